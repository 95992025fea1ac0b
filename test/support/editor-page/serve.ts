import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Teardown } from '../site.ts'

/** Serves a page and the script that the page loads as `page.js`, until the end of a test. Returns the address. */
export async function servePage(t: Teardown, { page, script }: { page: string; script: string }): Promise<string> {
  const server = createServer((request, response) => {
    const [type, body] = request.url === '/page.js' ? ['text/javascript', script] : ['text/html; charset=utf-8', page]
    response.writeHead(200, { 'content-type': type }).end(body)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}
