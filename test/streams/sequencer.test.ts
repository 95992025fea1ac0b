import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import pg from 'pg'
import Type from 'typebox'
import { type Database, inTransaction, sql, type Transaction } from '../../shared/database/database.ts'
import { row } from '../../shared/database/row.ts'
import { numberEvents } from '../../shared/events/number.ts'
import { recordEvents } from '../../shared/events/record.ts'
import { eventSequencer } from '../../workers/events.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { type Test, t } from '../support/tap.ts'
import { startWorkers } from '../support/workers.ts'

const service = await startTestService(t)

t.test('a reader sees every event once, in whatever order writers begin, commit and give up', async (t) => {
  const { database, workspaceId } = await startLog()
  const writers = await connect(t, 4)
  const step = fc.oneof(
    fc.record({ kind: fc.constantFrom('write', 'commit', 'rollback'), writer: fc.nat(3) }),
    fc.record({ kind: fc.constant('number'), batch: fc.constantFrom(1, 2, 1000) }),
    fc.record({ kind: fc.constant('read'), limit: fc.integer({ min: 1, max: 3 }) }),
  )
  let serial = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 16 }), async (steps) => {
      const open = writers.map((): string[] => [])
      const committed: string[] = []
      const reader = await Reader.atEnd(database, workspaceId)
      const end = async (writer: number, how: 'COMMIT' | 'ROLLBACK') => {
        if (open[writer]?.length === 0) return
        await writers[writer]?.query(how)
        if (how === 'COMMIT') committed.push(...(open[writer] ?? []))
        open[writer] = []
      }
      for (const action of steps) {
        if ('batch' in action) await numberEvents(database, action.batch)
        else if ('limit' in action) await reader.read(action.limit)
        else if (action.kind !== 'write') await end(action.writer, action.kind === 'commit' ? 'COMMIT' : 'ROLLBACK')
        else {
          serial += 1
          const id = `doc_${serial}`
          if (open[action.writer]?.length === 0) await writers[action.writer]?.query('BEGIN')
          await writers[action.writer]?.query(insert, [workspaceId, id])
          open[action.writer]?.push(id)
        }
      }
      for (const writer of writers.keys()) await end(writer, 'COMMIT')
      while ((await numberEvents(database, 1000)) > 0);
      while ((await reader.read(3)) > 0);
      return JSON.stringify(reader.seen.toSorted()) === JSON.stringify(committed.toSorted())
    }),
  )
  t.pass('exactly once')
})

t.test('with two sequencers and writers that overlap, no reader misses or repeats an event', async (t) => {
  const { database, workspaceId } = await startLog()
  for (let copy = 0; copy < 2; copy += 1) await startWorkers(t, service, [eventSequencer])
  const reader = await Reader.atEnd(database, workspaceId)
  const writers = Array.from({ length: 6 }, async (_, writer) => {
    for (let number = 0; number < 25; number += 1) {
      await inTransaction(database, async (tx) => {
        await record(tx, { workspaceId, ids: [`doc_${writer}_${number}a`, `doc_${writer}_${number}b`] })
        await sleep(Math.random() * 8)
      })
    }
  })
  const written = Promise.all(writers)
  let writing = true
  void written.finally(() => {
    writing = false
  })
  while (writing) await reader.read(7)
  await written
  await until(async () => {
    await reader.read(100)
    return reader.seen.length >= 300
  })
  t.equal(await reader.read(100), 0)
  t.equal(new Set(reader.seen).size, 300)
  t.equal(reader.seen.length, 300)
})

t.test('the events of one document are numbered in the order in which its writes were accepted', async (t) => {
  const { database } = service
  const ada = await service.signUp()
  const { id } = (await ada.post('/documents', { title: 'v0' })).body.data
  const numbering = startWorkers(t, service, [eventSequencer])
  await Promise.all(
    ['a', 'b', 'c'].map(async (client) => {
      for (let number = 1; number <= 10; number += 1) {
        const reply = await ada.patch(`/documents/${id}`, { title: `${client}${number}` })
        t.equal(reply.status, 200)
      }
    }),
  )
  await numbering
  const rows = () =>
    database.any(sql.type(row(Type.Object({ event_id: Type.Number(), row_no: Type.Number(), title: Type.String() })))`
      SELECT event_id, row_no, document ->> 'title' AS title FROM events
      WHERE document_id = ${id} AND event_id IS NOT NULL ORDER BY event_id`)
  await until(async () => (await rows()).length === 31)
  const numbered = await rows()
  t.strictSame(
    numbered.map(({ row_no }) => row_no),
    numbered.map(({ row_no }) => row_no).toSorted((a, b) => a - b),
  )
  for (const client of ['a', 'b', 'c']) {
    const own = numbered.map(({ title }) => title).filter((title) => title.startsWith(client))
    t.strictSame(
      own,
      Array.from({ length: 10 }, (_, index) => `${client}${index + 1}`),
    )
  }
  t.equal(numbered.at(-1)?.title, (await ada.get(`/documents/${id}`)).body.data.title, 'the last one is what is there')
})

t.test('the events of one write are numbered in the order in which it names its documents', async (t) => {
  const { database, workspaceId } = await startLog()
  const reader = await Reader.atEnd(database, workspaceId)
  const ids = Array.from({ length: 50 }, (_, index) => `doc_${String((index * 37) % 50)}`)
  const rowNos = await inTransaction(database, (tx) => record(tx, { workspaceId, ids }))
  t.strictSame(
    rowNos,
    rowNos.toSorted((a, b) => a - b),
  )
  while ((await numberEvents(database, 7)) > 0);
  while ((await reader.read(9)) > 0);
  t.strictSame(reader.seen, ids)
})

t.test('an event whose sequencer dies half-way is numbered by the next one', async (t) => {
  const { database, workspaceId } = await startLog()
  const reader = await Reader.atEnd(database, workspaceId)
  const [other] = await connect(t, 1)
  await inTransaction(database, (tx) => record(tx, { workspaceId, ids: ['doc_1', 'doc_2'] }))
  await other?.query('BEGIN')
  await other?.query(`SELECT pg_advisory_xact_lock(hashtextextended('svc_event_ids', 0))`)
  await other?.query(`UPDATE events SET event_id = nextval('event_id_seq') WHERE event_id IS NULL`)
  t.equal(await numberEvents(database, 10), 0, 'one works at a time')
  await other?.query('ROLLBACK')
  while ((await numberEvents(database, 10)) > 0);
  await reader.read(10)
  t.strictSame(reader.seen, ['doc_1', 'doc_2'])
})

const insert = `
  INSERT INTO events (workspace_id, name, document_id, document) VALUES ($1, 'document.content.updated', $2, '{}')`

/** A workspace of its own in the event log of the service. */
async function startLog() {
  const { workspace_id } = await service.signUp()
  return { database: service.database, workspaceId: workspace_id }
}

async function connect(t: Test, count: number): Promise<pg.Client[]> {
  const clients = Array.from({ length: count }, () => new pg.Client(service.url))
  for (const client of clients) {
    await client.connect()
    t.teardown(() => client.end())
  }
  return clients
}

function record(tx: Transaction, { workspaceId, ids }: { workspaceId: string; ids: string[] }): Promise<number[]> {
  const documents = ids.map((id) => ({ ...document, id }))
  return recordEvents(tx, { workspaceId, name: 'document.content.updated', documents })
}

const document = {
  title: '',
  document_type: 'document',
  knowledge_base_id: 1,
  folder_id: null,
  document_set_id: null,
  locale: null,
  variant_role: null,
  version: '',
  updated_at: 0,
}

const EventRow = row(Type.Object({ event_id: Type.Number(), document_id: Type.String() }))

/** Follows the log as a client does: what is newer than the last id it has seen. */
class Reader {
  readonly seen: string[] = []
  readonly #database: Database
  readonly #workspaceId: string
  #last: number

  private constructor(database: Database, workspaceId: string, last: number) {
    this.#database = database
    this.#workspaceId = workspaceId
    this.#last = last
  }

  static async atEnd(database: Database, workspaceId: string): Promise<Reader> {
    const last = await database.oneFirst(sql.type(row(Type.Object({ last: Type.Number() })))`
      SELECT coalesce(max(event_id), 0) AS last FROM events`)
    return new Reader(database, workspaceId, last)
  }

  /** Reads at most `limit` events and returns how many there were. */
  async read(limit: number): Promise<number> {
    const events = await this.#database.any(sql.type(EventRow)`
      SELECT event_id, document_id FROM events
      WHERE workspace_id = ${this.#workspaceId} AND event_id > ${this.#last} ORDER BY event_id LIMIT ${limit}`)
    this.seen.push(...events.map(({ document_id }) => document_id))
    this.#last = events.at(-1)?.event_id ?? this.#last
    return events.length
  }
}
