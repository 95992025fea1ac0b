import { setTimeout as sleep } from 'node:timers/promises'
import Type from 'typebox'
import { inRehearsal, inTransaction, sql, type Transaction } from '../../shared/database/database.ts'
import { isOutage } from '../../shared/database/outages.ts'
import { row } from '../../shared/database/row.ts'
import { Refusal } from '../../shared/errors/errors.ts'
import { p } from '../document/build.ts'
import { startCountingProxy } from '../support/counting-proxy.ts'
import { bodyOf, eventsOf, make, put } from '../support/documents.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { startTestService } from '../support/service.ts'
import { type Test, t } from '../support/tap.ts'

/*
 * A transaction is committed whole or not at all, whatever fails in it, and a caller is told what has happened.
 */

const { url, drop } = await createTestDatabase()
t.teardown(drop)
const proxy = await startCountingProxy(t, url)
const { signUp, database } = await startTestService(t, { DATABASE_URL: proxy.url })
await database.query(sql.unsafe`CREATE TABLE counters (name text PRIMARY KEY, count int NOT NULL CHECK (count < 10))`)

const CountRow = row(Type.Object({ count: Type.Integer() }))
const insert = (name: string, count: number) =>
  sql.unsafe`INSERT INTO counters (name, count) VALUES (${name}, ${count})`
const increment = (name: string) => sql.type(CountRow)`
  UPDATE counters SET count = count + 1 WHERE name = ${name} RETURNING count`
const countOf = (name: string) =>
  database.maybeOneFirst(sql.type(CountRow)`SELECT count FROM counters WHERE name = ${name}`)

const unhandled: unknown[] = []
const note = (error: unknown) => unhandled.push(error)
process.on('unhandledRejection', note)
t.teardown(() => {
  process.off('unhandledRejection', note)
})

t.test('a failure that the work swallows fails the commit, with its own error', async (t) => {
  const writing = inTransaction(database, async (tx) => {
    await tx.query(insert('swallowed', 1))
    await tx.query(insert('swallowed', 2)).catch(() => {})
    return 'done'
  })
  await t.rejects(writing, { cause: { code: '23505' } }, 'PostgreSQL has undone it, so it is never taken as committed')
  t.equal(await countOf('swallowed'), null)
})

t.test('a statement that hangs ends by its time limit, and its transaction releases what it has locked', async (t) => {
  await database.query(insert('held', 0))
  const writing = inTransaction(database, async (tx) => {
    await tx.query(sql.unsafe`SELECT set_config('statement_timeout', '200', true)`)
    await tx.one(increment('held'))
    await tx.query(sql.unsafe`SELECT pg_sleep(60)`)
  })
  await t.rejects(writing, { message: /statement_timeout/ })
  await database.query(sql.unsafe`UPDATE counters SET count = 5 WHERE name = 'held'`)
  t.equal(await countOf('held'), 5)
})

t.test('a transaction whose process says nothing for long is undone, and its connection replaced', async (t) => {
  await database.query(insert('paused', 0))
  const writing = inTransaction(database, async (tx) => {
    await tx.query(sql.unsafe`SELECT set_config('idle_in_transaction_session_timeout', '100', true)`)
    await tx.one(increment('paused'))
    await sleep(1000)
    await tx.one(increment('paused'))
  })
  const error = await writing.catch((reason: unknown) => reason)
  t.equal(isOutage(error), true, 'an outage, which is answered with 503')
  t.equal(await countOf('paused'), 0)
})

t.test('a refusal undoes what was written before it, and the connection stays', async (t) => {
  const before = await backends()
  const writing = inTransaction(database, async (tx) => {
    await tx.query(insert('refused', 1))
    throw new Refusal('forbidden', { details: { required_role: 'editor' } })
  })
  await t.rejects(writing, { code: 'forbidden' })
  t.equal(await countOf('refused'), null)
  t.strictSame(await backends(), before)
})

t.test('a rehearsed transaction returns what it found, and undoes what it did', async (t) => {
  const before = await backends()
  const found = await inRehearsal(database, async (tx) => {
    await tx.query(insert('rehearsed', 1))
    return tx.oneFirst(increment('rehearsed'))
  })
  t.equal(found, 2)
  t.equal(await countOf('rehearsed'), null)
  t.strictSame(await backends(), before, 'the connection stays')
})

t.test('a rehearsed transaction fails with what the commit would fail with', async (t) => {
  await database.query(sql.unsafe`CREATE TABLE deferred (name text UNIQUE DEFERRABLE INITIALLY DEFERRED)`)
  const twice = async (tx: Transaction) => {
    for (let time = 0; time < 2; time += 1) await tx.query(sql.unsafe`INSERT INTO deferred VALUES ('twice')`)
  }
  await t.rejects(inTransaction(database, twice), { cause: { code: '23505' } }, 'a commit checks the constraint')
  await t.rejects(inRehearsal(database, twice), { cause: { code: '23505' } }, 'so does a rehearsal')
  t.strictSame(unhandled, [])
})

t.test('nothing can be written once a transaction is over', async (t) => {
  const tx = await inTransaction(database, async (tx) => tx)
  t.throws(() => tx.query(insert('late', 1)), /transaction/)
  t.equal(await countOf('late'), null)
})

t.test('of two transactions that deadlock each other, both come through', async (t) => {
  await database.query(insert('left', 0))
  await database.query(insert('right', 0))
  let attempts = 0
  let locked = 0
  const meeting = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  const cross = (from: string, to: string) =>
    inTransaction(database, async (tx: Transaction) => {
      attempts += 1
      // The victim lets the other transaction pass. Otherwise it could overtake and deadlock with it once more.
      if (attempts > 2) await ended.promise
      await tx.one(increment(from))
      locked += 1
      if (locked >= 2) meeting.resolve()
      await meeting.promise
      await tx.one(increment(to))
    }).then(() => ended.resolve())
  await Promise.all([cross('left', 'right'), cross('right', 'left')])
  t.equal(attempts, 3, 'the victim ran again')
  t.strictSame([await countOf('left'), await countOf('right')], [2, 2])
})

// In the order of the statements of a write: among its first, in its middle, and its last.
for (const table of ['document_manifests', 'stale_projections', 'audit_log']) {
  t.test(`a body whose write fails in ${table} stays as it was, with its history`, async (t) => {
    const ada = await signUp()
    const made = await make(ada, [p('before')])
    const events = await eventsOf(database, made.id)
    const before = await rowsOf(made.id)
    const lift = await forbidInserts(t, table)
    const failed = await put(ada, made.id, [p('after')])
    await lift()
    t.match(failed, { status: 500, body: { error: { code: 'internal_error' } } })
    t.strictSame(await bodyOf(ada, made.id), made)
    t.strictSame(await eventsOf(database, made.id), events)
    t.strictSame(await rowsOf(made.id), before)
    t.match(await put(ada, made.id, [p('after')], made.etag), { status: 200 }, 'and can be written again')
  })
}

t.test('a write whose COMMIT never arrives is not acknowledged, and has not happened', async (t) => {
  const ada = await signUp()
  const made = await make(ada, [p('before')])
  proxy.cut('COMMIT')
  t.match(await put(ada, made.id, [p('after')]), { status: 503, body: { error: { code: 'service_unavailable' } } })
  t.strictSame(await bodyOf(ada, made.id), made)
  t.match(await put(ada, made.id, [p('after')], made.etag), { status: 200 })
})

t.test('a write whose commit is not heard of is not acknowledged, but complete', async (t) => {
  const ada = await signUp()
  const made = await make(ada, [p('before')])
  proxy.cut('COMMIT', { after: true })
  t.match(await put(ada, made.id, [p('after')]), { status: 503 })
  t.not((await bodyOf(ada, made.id)).version, made.version)
  t.strictSame(await eventsOf(database, made.id), ['document.created', 'document.content.updated'])
  t.match(await put(ada, made.id, [p('lost')], made.etag), { status: 409 }, 'so that a retry is told')
})

t.test('a connection that is reset within a transaction fails the transaction, and the process goes on', async (t) => {
  proxy.cut('SELECT 2', { reset: true })
  const writing = inTransaction(database, async (tx) => {
    await tx.query(insert('reset', 1))
    await tx.one(sql.type(CountRow)`SELECT 2 AS count`)
  })
  await t.rejects(writing, { code: 'ECONNRESET' })
  t.equal(await countOf('reset'), null)
})

t.test('a transaction whose connection breaks does not reject while its work goes on', async (t) => {
  proxy.cut('SELECT 3', { reset: true })
  let hasEnded = false
  const writing = inTransaction(database, async (tx) => {
    const reading = tx.query(sql.unsafe`SELECT 3`).catch(() => {})
    await sleep(200)
    await reading
    hasEnded = true
  })
  await t.rejects(writing, { code: 'ECONNRESET' })
  t.equal(hasEnded, true)
})

t.test('no rejection was left unhandled', async (t) => {
  t.strictSame(unhandled, [])
})

const PidRow = row(Type.Object({ pid: Type.Integer() }))

function backends(): Promise<readonly number[]> {
  return database.anyFirst(sql.type(PidRow)`
    SELECT pid FROM pg_stat_activity WHERE datname = current_database() ORDER BY pid`)
}

// How many rows a document has in the tables that a write fills.
async function rowsOf(id: string): Promise<unknown> {
  const counts = await database.one(sql.type(row(Type.Record(Type.String(), Type.Integer())))`
    SELECT (SELECT count(*) FROM document_bodies WHERE document_id = ${id}) AS bodies,
      (SELECT count(*) FROM document_manifests WHERE document_id = ${id}) AS manifests,
      (SELECT count(*) FROM document_versions WHERE document_id = ${id}) AS versions,
      (SELECT count(*) FROM pgboss.job WHERE data ->> 'document_id' = ${id}) AS jobs`)
  return counts
}

async function forbidInserts(t: Test, table: string): Promise<() => Promise<void>> {
  const name = sql.identifier([table])
  await database.query(sql.unsafe`
    CREATE OR REPLACE FUNCTION refuse_insert() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN RAISE EXCEPTION ''no more rows''; END'`)
  await database.query(sql.unsafe`
    CREATE TRIGGER refuse_insert BEFORE INSERT OR UPDATE ON ${name} EXECUTE FUNCTION refuse_insert()`)
  const lift = async () => {
    await database.query(sql.unsafe`DROP TRIGGER IF EXISTS refuse_insert ON ${name}`)
  }
  t.teardown(lift)
  return lift
}
