import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Teardown } from '../support/site.ts'

/**
 * Starts a TCP relay that passes everything on after a delay, in both directions. Returns the URL by which a client
 * reaches the server of `url` through the relay.
 */
export async function delayingRelay(t: Teardown, options: { url: string; delayMs: number }): Promise<string> {
  const { hostname, port, pathname } = new URL(options.url)
  const open = new Set<Socket>()
  const relay = createServer((near) => {
    const far = connect(Number(port), hostname)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from)
      from.on('data', (chunk) => setTimeout(() => to.writable && to.write(chunk), options.delayMs))
      from.on('close', () => setTimeout(() => to.destroy(), options.delayMs))
      from.on('close', () => open.delete(from))
      // The other side is told by the event `close`, which follows.
      from.on('error', () => {})
    }
  }).listen(0, '127.0.0.1')
  await once(relay, 'listening')
  t.teardown(() => {
    for (const socket of open) socket.destroy()
    relay.close()
  })
  return `ws://127.0.0.1:${(relay.address() as AddressInfo).port}${pathname}`
}
