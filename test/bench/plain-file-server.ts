import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

// The simplest file server: it writes a request into a file, and sends a file as an answer. The argument is the
// directory. It prints its port.
const [, , directory = ''] = process.argv
const server = createServer(async (request, response) => {
  const path = join(directory, `plain-${request.url?.slice(1)}`)
  if (request.method === 'PUT') {
    await pipeline(request, createWriteStream(path))
    response.end()
  } else await pipeline(createReadStream(path), response)
}).listen(0)
await once(server, 'listening')
process.stdout.write(`${(server.address() as AddressInfo).port}\n`)
