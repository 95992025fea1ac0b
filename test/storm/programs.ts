import type { Client, Reply } from '../support/client.ts'
import { Choices } from './choices.ts'
import type { ApiWrite } from './ledger.ts'
import { count, pause, type StormDocument, type World } from './world.ts'
import { type WriteRequest, writes } from './writes.ts'

/** How often a program writes in which way. */
const operations = {
  ...{ patch: 30, insert: 20, remove: 6, move: 8, retype: 5, several: 12 },
  ...{ putJson: 6, putMarkdown: 6, rollback: 2 },
}

/** A program that writes over the API, with one client for each API process. */
export type ProgramOptions = { name: string; clients: readonly Client[]; restlessness: number }

/** Writes until the run is over, and records what became of each write. */
export async function runProgram(world: World, { name, clients, restlessness }: ProgramOptions): Promise<void> {
  const choices = new Choices(world.seed, name)
  while (!world.isOver) {
    await pause(world, choices.between(50, 2 * restlessness))
    const document = choices.pick(world.documents)
    const client = choices.pick(clients)
    if (world.isOver || !document || !client) continue
    const operation = choices.weighted(operations)
    const words: string[] = []
    const word = () => {
      words.push(world.characters.next())
      return `storm${world.characters.used}x${words.at(-1)}`
    }
    try {
      const reading = await read(client, document)
      if (reading === null) continue
      const request = await writes[operation]({ ...reading, choices, word })
      if (request !== null) await send(world, { document, client, request, name, operation, words })
    } catch (error) {
      // The API process is out of reach or its answer was cut off while nothing was being written.
      count(world, `api: read failed: ${error instanceof Error ? error.message : error}`)
    }
  }
}

type Sending = {
  document: StormDocument
  client: Client
  request: WriteRequest
  name: string
  operation: string
  words: string[]
}

async function read(client: Client, { id, untouched }: StormDocument) {
  const { status, body } = await client.get(`/documents/${id}/content`)
  if (status !== 200) return null
  const { version, document } = body.data
  return { client, id, version: version as string, blocks: document.content, untouched }
}

async function send(world: World, { document, client, request, name, operation, words }: Sending): Promise<void> {
  const { method, path, body, guard, intended } = request
  const at = Date.now()
  const headers: Record<string, string> = guard === null ? {} : { 'if-match': guard === '*' ? '*' : `"${guard}"` }
  const options = { headers, ...(body !== undefined && { body }) }
  const reply = await client.call(method, `/documents/${document.id}${path}`, options).catch(() => null)
  const endedAt = Date.now()
  const outcome = outcomeOf(reply)
  const version: string | null = reply?.headers.get('etag')?.replaceAll('"', '') ?? null
  const code: string | null = reply?.body?.error?.code ?? null
  const payload = JSON.stringify(body ?? '')
  const base = guard?.startsWith('sha256:') && path !== '' && !path.startsWith('/blocks/') ? guard : null
  const made: ApiWrite = {
    ...{ by: name, operation, at, endedAt, outcome, status: reply?.status ?? 0, code },
    ...{ version: outcome === 'acknowledged' ? version : null, base, intended, payload },
  }
  document.ledger.writes.push(made)
  count(world, `write: ${operation} ${outcome}`)
  if (code !== null) count(world, `refused: ${made.status} ${code}`)
  if (made.status === 500) {
    world.violations.push(`${document.name}: ${method} ${path} by ${name} was answered with 500: ${reply?.text}`)
  }
  for (const character of words.filter((one) => payload.includes(one))) {
    const savedAt = outcome === 'acknowledged' ? endedAt : null
    const place = { blocks: [], elements: [], clock: null, isOnline: true }
    document.ledger.keystrokes.set(character, { character, by: name, at, savedAt, ...place })
  }
}

function outcomeOf(reply: Reply | null): ApiWrite['outcome'] {
  if (reply === null || reply.status >= 500) return 'unknown'
  return reply.status < 300 ? 'acknowledged' : 'refused'
}
