import { IncomingMessage } from 'node:http'

// The headers that the library reads. It would answer an error as a page if it knew that the client prefers HTML.
const copied = ['authorization', 'content-type', 'cookie', 'user-agent'] as const

/**
 * A copy of a request for the library, which reads the body itself and derives addresses from the header Host. The copy
 * has a body whose size was checked, and names the public origin, whatever the client has sent as Host.
 */
export function requestCopy(
  request: IncomingMessage,
  copy: { origin: string; url: string; body: string },
): IncomingMessage {
  const { origin, url, body } = copy
  const { host, protocol } = new URL(origin)
  const bytes = Buffer.from(body)
  const message = new IncomingMessage(request.socket)
  message.method = request.method ?? 'GET'
  message.url = url
  message.httpVersion = request.httpVersion
  message.headers = {
    ...Object.fromEntries(
      copied.map((name) => [name, request.headers[name]]).filter(([, value]) => value !== undefined),
    ),
    host,
    'x-forwarded-proto': protocol.slice(0, -1),
    'content-length': String(bytes.length),
  }
  // A message that ends before it is complete would close the connection.
  message.complete = true
  message.push(bytes)
  message.push(null)
  return message
}
