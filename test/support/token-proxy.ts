import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Teardown } from './site.ts'

/**
 * Starts a proxy that adds a bearer token to each request and changes nothing else. It is for programs that cannot send
 * a header of the caller's choice. The proxy is turned to a service once that is known, and ends with the test.
 */
export async function startTokenProxy(t: Teardown) {
  let service = { origin: '', token: '' }
  const proxy = createServer((incoming, outgoing) => {
    const { method, url: path } = incoming
    const { hostname, port } = new URL(service.origin)
    const headers = { ...incoming.headers, authorization: `Bearer ${service.token}` }
    const forwarded = request({ hostname, port, method, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    forwarded.on('error', () => outgoing.destroy())
    outgoing.on('close', () => forwarded.destroy())
    incoming.pipe(forwarded)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  t.teardown(() => {
    proxy.closeAllConnections()
    proxy.close()
  })
  return {
    origin: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    turnTo(to: { origin: string; token: string }): void {
      service = to
    },
  }
}
