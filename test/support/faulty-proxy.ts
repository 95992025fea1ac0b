import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Teardown } from './site.ts'

/**
 * What the proxy does to one request:
 * - `cut-before`: the connection ends and the service never sees the request;
 * - `cut-after`: the service carries the request out, and the connection ends in place of the answer;
 * - `cut-within`: the connection ends within the body of the answer, after `bytes` of it;
 * - `silence`: nothing more arrives after `bytes` of the body, and the connection stays;
 * - `answer`: the proxy itself answers with a status, and the service never sees the request;
 * - `delay`: the request is passed on after some milliseconds;
 * - `duplicate`: the service gets the request twice at the same time; the first answer is passed on.
 */
export type Fault =
  | { kind: 'cut-before' | 'cut-after' | 'duplicate' }
  | { kind: 'cut-within' | 'silence'; bytes: number }
  | { kind: 'answer'; status: number; headers?: Record<string, string>; text?: string }
  | { kind: 'delay'; ms: number }

/** A request that the proxy has got. */
export type Seen = { method: string; path: string; headers: IncomingMessage['headers']; fault: Fault | null }

/**
 * A proxy before the service, as real networks and proxies are. `choose` decides about each request; null passes it on.
 * `seen` lists all requests. The proxy ends with the test.
 */
export async function startFaultyProxy(
  t: Teardown,
  origin: string,
  choose: (seen: Omit<Seen, 'fault'>) => Fault | null = () => null,
) {
  const seen: Seen[] = []
  const proxy = { origin: '', seen, choose }
  const server = createServer((incoming, outgoing) => {
    const { method = '', url: path = '', headers } = incoming
    const fault = proxy.choose({ method, path, headers })
    seen.push({ method, path, headers, fault })
    relay({ origin, incoming, outgoing }, fault).catch(() => outgoing.destroy())
  })
  server.keepAliveTimeout = 0
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  proxy.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return proxy
}

type Relayed = { origin: string; incoming: IncomingMessage; outgoing: ServerResponse }

async function relay({ origin, incoming, outgoing }: Relayed, fault: Fault | null): Promise<void> {
  const kind = fault?.kind
  if (kind === 'cut-before') return void outgoing.destroy()
  const body = await bytesOf(incoming)
  if (fault?.kind === 'answer') return void outgoing.writeHead(fault.status, fault.headers).end(fault.text)
  if (fault?.kind === 'delay') await sleep(fault.ms, undefined, { ref: false })
  const copies = kind === 'duplicate' ? [forward(origin, incoming, body), forward(origin, incoming, body)] : []
  const answer = await (copies[0] ?? forward(origin, incoming, body))
  for (const copy of copies.slice(1)) (await copy).resume()
  outgoing.on('close', () => answer.destroy())
  const over = once(outgoing, 'close')
  over.catch(() => {})
  if (kind === 'cut-after') {
    await bytesOf(answer)
    outgoing.destroy()
    return
  }
  outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
  let left = fault?.kind === 'cut-within' || fault?.kind === 'silence' ? fault.bytes : Number.POSITIVE_INFINITY
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    const part = chunk.subarray(0, Math.min(left, chunk.length))
    left -= part.length
    if (!outgoing.write(part)) await Promise.race([once(outgoing, 'drain'), over])
    if (left > 0) continue
    if (kind === 'silence') return
    // What was written leaves the machine before the connection ends.
    await new Promise<void>((resolve) => outgoing.socket?.end(() => resolve()))
    return
  }
  outgoing.end()
}

async function forward(origin: string, incoming: IncomingMessage, body: Buffer): Promise<IncomingMessage> {
  const { method, headers } = incoming
  const passed = request(new URL(incoming.url ?? '/', origin), { method, headers, agent: false })
  passed.end(body)
  const [answer] = (await once(passed, 'response')) as [IncomingMessage]
  return answer
}

async function bytesOf(stream: IncomingMessage): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(stream as AsyncIterable<Buffer>))
}
