import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'

/** An answer with its text. Of a stream of events, which never ends by itself, the text is the beginning. */
export type Answer = { status: number; headers: Headers; text: string }

const agent = new Agent({ keepAlive: true })

/**
 * Calls a URL and follows no redirect. A call by `fetch` takes three times the processor time, of which the tens of
 * thousands of calls of a run would make half a minute.
 */
export async function httpCall(
  url: string,
  options: { method: string; headers: Record<string, string>; body?: string | Uint8Array | undefined },
): Promise<Answer> {
  const { method, body } = options
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const call = request(url, { method, agent, headers: { accept: '*/*', ...length, ...options.headers } })
  call.end(body)
  const [response] = (await once(call, 'response')) as [IncomingMessage]
  const headers = new Headers()
  for (const [name, values = []] of Object.entries(response.headersDistinct)) {
    for (const value of values) headers.append(name, value)
  }
  const isStream = headers.get('content-type')?.startsWith('text/event-stream')
  const chunks: Buffer[] = []
  for await (const chunk of response) {
    chunks.push(chunk)
    if (isStream) break
  }
  return { status: response.statusCode ?? 0, headers, text: new TextDecoder().decode(Buffer.concat(chunks)) }
}
