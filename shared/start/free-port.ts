import { once } from 'node:events'
import { createServer } from 'node:net'

/** A TCP port that nobody uses at the moment: the given one, which throws EADDRINUSE when it is taken, or any. */
export async function freePort(wanted: { port?: number; host?: string }): Promise<number> {
  const server = createServer().listen({ port: 0, ...wanted })
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (typeof address !== 'object' || address === null) throw new Error('There is no free TCP port')
  return address.port
}
