import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/*
 * The baseline of `streams`: for each message of the parent, it writes an event of the same size to every open
 * response, and does nothing else.
 */

const responses = new Set<ServerResponse>()

const server = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(': connected\n\n')
  responses.add(response)
  response.on('close', () => responses.delete(response))
}).listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))

process.on('message', ({ serial }: { serial: number }) => {
  const data = { event_id: serial, document_id: `doc_${serial}`, padding: 'x'.repeat(450) }
  const text = `id: ${serial}\nevent: document.created\ndata: ${JSON.stringify(data)}\n\n`
  for (const response of responses) response.write(text)
})
