import type { Request } from 'express'

// How long the rest of a refused body is read: a client that sends all of it first has to get the answer.
const patienceMs = 30_000

/**
 * Throws away what is still to come of a refused body, so that the caller can send to the end and read the answer, but
 * only for half a minute: then the connection is cut.
 */
export function discardRest(request: Request): void {
  request.unpipe()
  request.resume()
  if (request.complete || request.destroyed) return
  const impatience = setTimeout(() => request.socket.destroy(), patienceMs).unref()
  for (const event of ['end', 'close']) request.once(event, () => clearTimeout(impatience))
}
