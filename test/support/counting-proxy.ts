import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Teardown } from './site.ts'

/**
 * What went to PostgreSQL, without the probes that each listening connection sends every 30 seconds, since they would
 * come when they like.
 */
export type Traffic = { statements: string[] }

type Cut = { after?: boolean; reset?: boolean; silent?: boolean }

/**
 * A relay before PostgreSQL that reads along. `count` returns the traffic of all connections while `work` runs. `cut`
 * ends a connection as soon as its client sends a statement with the given words, in place of relaying the statement.
 * With `after`, the statement is relayed and executed, and the connection ends in place of the answer. With `reset`,
 * the client is told that the connection was reset. With `silent`, the connection stays, but nothing passes any more.
 */
export async function startCountingProxy(t: Teardown, target: string) {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  let traffic: Traffic = { statements: [] }
  let cutting: ({ words: string } & Cut) | undefined
  const server = createServer((client) => {
    const database = connect(Number(port), hostname)
    const statements = statementReader()
    let silent = false
    const end = () => {
      for (const socket of [client, database]) socket.destroy()
    }
    client.on('data', (chunk) => {
      const sent = statements(chunk)
      const isProbe = sent.length === 1 && sent[0] === 'SELECT 1'
      if (!isProbe) traffic.statements.push(...sent)
      const cut = cutting
      if (cut !== undefined && sent.some((text) => text.includes(cut.words))) {
        cutting = undefined
        if (cut.silent) {
          client.pause()
          database.pause()
          return
        }
        if (cut.reset) return client.resetAndDestroy()
        if (!cut.after) return end()
        silent = true
      }
      database.write(chunk)
    })
    database.on('data', (chunk) => {
      // A connection that is cut after the commit ends when PostgreSQL has answered everything up to the commit.
      if (!silent) client.write(chunk)
      else if (answersCommit(chunk)) end()
    })
    for (const socket of [client, database]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', end)
      socket.on('close', () => {
        sockets.delete(socket)
        end()
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const url = new URL(target)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)

  async function count(work: () => Promise<unknown>): Promise<Traffic> {
    traffic = { statements: [] }
    await work()
    return traffic
  }

  function cut(words: string, how: Cut = {}): void {
    cutting = { words, ...how }
  }

  return { url: url.href, count, cut }
}

function answersCommit(chunk: Buffer): boolean {
  return chunk.includes('COMMIT\0') || chunk.includes('ROLLBACK\0')
}

/**
 * Reads the messages of one client, and returns the texts of the statements that a chunk asks to execute.
 */
function statementReader(): (chunk: Buffer) => string[] {
  let rest: Buffer = Buffer.alloc(0)
  let isStarted = false
  const texts = new Map<string, string>()
  let bound = ''
  return (chunk) => {
    rest = Buffer.concat([rest, chunk])
    const statements: string[] = []
    for (;;) {
      // The first message, which names user and database, has no type.
      const start = isStarted ? 1 : 0
      if (rest.length < start + 4) return statements
      const end = start + rest.readInt32BE(start)
      if (rest.length < end) return statements
      const type = isStarted ? String.fromCharCode(rest[0] ?? 0) : ''
      const words = rest
        .subarray(start + 4, end)
        .toString('latin1')
        .split('\0')
      isStarted = true
      rest = rest.subarray(end)
      if (type === 'Q') statements.push(words[0] ?? '')
      if (type === 'P') texts.set(words[0] ?? '', words[1] ?? '')
      if (type === 'B') bound = texts.get(words[1] ?? '') ?? ''
      if (type === 'E') statements.push(bound)
    }
  }
}
