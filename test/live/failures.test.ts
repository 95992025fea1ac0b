import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import * as Y from 'yjs'
import { advance } from '../../shared/body/live/queries.ts'
import { bodyFragment } from '../../shared/body/yjs/encoding.ts'
import { sql } from '../../shared/database/database.ts'
import { idFrom } from '../document/yjs/random-body.ts'
import { startCountingProxy } from '../support/counting-proxy.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { until } from '../support/site.ts'
import { type Test, t } from '../support/tap.ts'
import { body, p, paragraphElement, words } from './blocks.ts'
import { copyInto, LiveProcess, Site, shown, textAt } from './site.ts'

/*
 * A live process keeps a copy of what is stored. Whatever becomes of a transaction, the copy must not differ from what
 * is stored, and no text may be lost or stored twice.
 */

const { url, drop } = await createTestDatabase()
t.teardown(drop)
const proxy = await startCountingProxy(t, url)
const site = await Site.start(t, { DATABASE_URL: proxy.url })

t.test('text whose COMMIT never arrives is stored by the next flush', async (t) => {
  const live = await LiveProcess.open(site, await site.create(body(p(1, 'one'), p(2, 'two'))))
  textAt(live.doc, 0).insert(0, 'typed ')
  proxy.cut('COMMIT')
  await t.rejects(live.flush())
  t.strictSame((await site.read(live.key)).body, body(p(1, 'one'), p(2, 'two')))
  await isStoredOnce(t, live, body(p(1, 'typed one'), p(2, 'two')))
})

t.test('text whose commit is not heard of is stored once', async (t) => {
  const live = await LiveProcess.open(site, await site.create(body(p(1, 'one'), p(2, 'two'))))
  textAt(live.doc, 0).insert(0, 'typed ')
  proxy.cut('COMMIT', { after: true })
  await t.rejects(live.flush())
  const { document } = await site.read(live.key)
  const flushed = await isStoredOnce(t, live, body(p(1, 'typed one'), p(2, 'two')))
  t.match(flushed, { changed: false, document: { version: document.version } })
})

for (const isBehind of [false, true]) {
  const how = isBehind ? 'whose notification was heard' : 'of the API'
  t.test(`a write ${how} reaches editors once, also when its first delivery is not heard of`, async (t) => {
    const live = await LiveProcess.open(site, await site.create(body(p(1, 'one'), p(2, 'two'))))
    await site.write(live.key, () => body(p(1, 'one'), p(3, 'new'), p(2, 'two')))
    proxy.cut('COMMIT', { after: true })
    await t.rejects(live.sync({ isBehind }))
    t.strictSame(shown(live.doc), body(p(1, 'one'), p(2, 'two')))
    await live.sync({ isBehind })
    t.strictSame(shown(live.doc), body(p(1, 'one'), p(3, 'new'), p(2, 'two')))
    t.match(await site.head(live.key), { n: 1, body_seq: 2 })
  })

  t.test(`a write ${how} whose delivery is not committed is delivered later`, async (t) => {
    const live = await LiveProcess.open(site, await site.create(body(p(1, 'one'), p(2, 'two'))))
    await site.write(live.key, () => body(p(1, 'one'), p(3, 'new'), p(2, 'two')))
    proxy.cut('COMMIT')
    await t.rejects(live.sync({ isBehind }))
    t.strictSame(shown(live.doc), body(p(1, 'one'), p(2, 'two')), 'no editor sees what is not stored')
    await live.sync({ isBehind })
    t.strictSame(shown(live.doc), body(p(1, 'one'), p(3, 'new'), p(2, 'two')))
    t.match(await site.head(live.key), { n: 1, body_seq: 2 })
  })
}

for (const table of ['document_bodies', 'stale_projections', 'document_y_updates']) {
  t.test(`a flush that fails in ${table} stores nothing, and the next one all`, async (t) => {
    const live = await LiveProcess.open(site, await site.create(body(p(1, 'one'), p(2, 'two'))))
    textAt(live.doc, 0).insert(0, 'typed ')
    const lift = await forbidInserts(t, table)
    await t.rejects(live.flush(), /no more rows/)
    await lift()
    t.match(await site.head(live.key), { n: 0, body_seq: 1 })
    await site.write(live.key, ({ content: [one] }) => body(p(3, 'three'), one))
    await isStoredOnce(t, live, body(p(3, 'three'), p(1, 'typed one')))
  })
}

t.test('a flush that is the victim of a deadlock runs again, and stores its text once', async (t) => {
  const live = await LiveProcess.open(site, await site.create(body(p(1, 'one'), p(2, 'two'))))
  await site.write(live.key, ({ content: [one, two] }) => body(two, one))
  textAt(live.doc, 0).insert(0, 'typed ')
  const [rival, gate] = [await connect(t), await connect(t)]
  await rival.query('BEGIN')
  await rival.query('SELECT FROM document_y_states WHERE document_id = $1 FOR UPDATE', [live.key.id])
  // PostgreSQL ends the transaction that looks for a deadlock first. The rival would look only after the test.
  await rival.query("SET LOCAL deadlock_timeout = '10min'")
  await gate.query('BEGIN')
  await gate.query('LOCK TABLE document_y_updates IN EXCLUSIVE MODE')
  const flushed = live.flush()
  await until(async () => (await waiting()) === 1)
  const attempts = await proxy.count(async () => {
    const locked = rival.query('SELECT FROM documents WHERE id = $1 FOR UPDATE', [live.key.id])
    await until(async () => (await waiting()) === 2)
    await gate.query('COMMIT')
    await locked
    await rival.query('COMMIT')
    await flushed
  })
  t.ok(
    attempts.statements.some((statement) => /^(BEGIN|START TRANSACTION)/.test(statement)),
    'the flush was the victim',
  )
  await isStoredOnce(t, live, body(p(2, 'two'), p(1, 'typed one')))
})

t.test('text whose flush breaks off while it takes in the text of others is stored by the next flush', async (t) => {
  const count = 2000
  const blocks = Array.from({ length: count }, (_, index) => p(index + 1, `text ${index}`))
  const live = await LiveProcess.open(site, await site.create(body(...blocks)))
  const other = await LiveProcess.open(site, live.key)
  for (const word of ['b ', 'a ']) {
    other.doc.transact(() => {
      for (let index = 0; index < count; index += 1) textAt(other.doc, index).insert(0, word)
    })
    await other.flush()
  }
  textAt(live.doc, 0).insert(0, 'typed ')
  const admin = await connect(t)
  const broken = admin.query(`
    DO $$ BEGIN
      LOOP
        PERFORM pg_stat_clear_snapshot();
        PERFORM pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND state = 'idle in transaction';
        EXIT WHEN FOUND;
        PERFORM pg_sleep(0.001);
      END LOOP;
    END $$`)
  await t.rejects(live.flush(), 'the connection ends while the process computes')
  await broken
  // A collab process tries again after a pause.
  await sleep(1000)
  const { document } = await live.flush()
  t.match(words((await site.read(live.key)).body.content[0]), /typed/)
  const steps = await admin.query('SELECT step FROM document_manifests WHERE document_id = $1 AND body_seq = $2', [
    live.key.id,
    document.body_seq,
  ])
  t.match(steps.rows, [{ step: [{ block_id: idFrom(1) }] }])
  t.equal(steps.rows[0]?.step.length, 1)
})

t.test('a replica that lost rows of the log to a fold of another process finds its way back', async (t) => {
  const live = await LiveProcess.open(site, await site.create(body(p(1, 'one'), p(2, 'two'))))
  const other = await LiveProcess.open(site, live.key)
  for (const word of ['a ', 'b ']) {
    textAt(other.doc, 0).insert(0, word)
    await other.flush()
  }
  await other.compact()
  textAt(live.doc, 1).insert(0, 'typed ')
  await live.flush()
  t.strictSame((await site.read(live.key)).body, body(p(1, 'b a one'), p(2, 'typed two')))
  t.strictSame(shown(live.doc), body(p(1, 'b a one'), p(2, 'typed two')))
})

t.test(
  'a database that was set back to an earlier state is not overwritten with a copy of the later state',
  async (t) => {
    const live = await LiveProcess.open(site, await site.create(body(p(1, 'one'), p(2, 'two'))))
    const { document } = await site.read(live.key)
    textAt(live.doc, 0).insert(0, 'lost ')
    await live.flush(site.caller, 'before')
    await site.run(async ({ tx }) => {
      const { id, version, character_count: characters } = document
      await tx.query(sql.unsafe`DELETE FROM document_y_updates WHERE document_id = ${id}`)
      await tx.query(sql.unsafe`UPDATE document_y_states SET n = 0, body_seq = 1 WHERE document_id = ${id}`)
      await tx.query(sql.unsafe`
      UPDATE documents SET body_seq = 1, version = ${version}, character_count = ${characters} WHERE id = ${id}`)
      await tx.query(sql.unsafe`DELETE FROM document_bodies WHERE document_id = ${id} AND body_seq > 1`)
      await tx.query(sql.unsafe`DELETE FROM document_manifests WHERE document_id = ${id} AND body_seq > 1`)
    })
    const browser = new Y.Doc()
    copyInto(browser, live.doc)
    textAt(browser, 1).insert(0, 'typed ')
    copyInto(live.doc, browser)
    await live.flush()
    const opened = await LiveProcess.open(site, live.key)
    t.strictSame((await site.read(live.key)).body, body(p(1, 'one'), p(2, 'typed two')))
    t.strictSame(shown(opened.doc), (await site.read(live.key)).body)
  },
)

t.test('a Y document that contradicts its body is brought back to the body, and typed text is kept', async (t) => {
  const contradicted = async () => {
    const key = await site.create(body(p(1, 'one'), p(2, 'two')))
    const live = await LiveProcess.open(site, key)
    textAt(live.doc, 0).insert(0, 'foreign ')
    await site.run(async ({ tx }) => advance(tx, { ...key, n: 0, updates: live.pending, body_seq: 1, earlier: [] }))
    live.pending = []
    return live
  }
  const live = await contradicted()
  textAt(live.doc, 1).insert(0, 'typed ')
  await live.flush()
  t.strictSame((await site.read(live.key)).body, body(p(1, 'one'), p(2, 'typed two')), 'found by who held it open')
  t.strictSame(shown(live.doc), body(p(1, 'one'), p(2, 'typed two')))

  const opened = await LiveProcess.open(site, (await contradicted()).key)
  await opened.sync()
  t.strictSame(shown(opened.doc), body(p(1, 'one'), p(2, 'two')), 'found by who opened it later')
  t.match(await opened.flush(), { changed: false })
})

t.test('the repairs of a Y document that contradicts its body reach the database and every editor', async (t) => {
  const key = await site.create(body(p(1, 'one'), p(2, 'two')))
  const live = await LiveProcess.open(site, key)
  // A second block with the id of the first is a fault that the next reading repairs.
  bodyFragment(live.doc).insert(1, [paragraphElement(1, 'copy')])
  await site.run(async ({ tx }) => advance(tx, { ...key, n: 0, updates: live.pending, body_seq: 1, earlier: [] }))
  live.pending = []
  textAt(live.doc, 2).insert(0, 'typed ')
  await live.flush()
  await site.write(key, ({ content }) => body(...content, p(3, 'three')))
  await live.sync()
  const opened = await LiveProcess.open(site, key)
  t.strictSame((await site.read(key)).body, body(p(1, 'one'), p(2, 'typed two'), p(3, 'three')))
  for (const { doc } of [live, opened]) {
    t.strictSame(shown(doc), body(p(1, 'one'), p(2, 'typed two'), p(3, 'three')))
    t.equal(doc.store.pendingStructs, null, 'nothing waits for an update that nobody has')
  }
})

t.test('folding loses nothing while two processes flush and programs write', async (t) => {
  const key = await site.create(body(p(1, 'start'), p(2, 'start'), p(3, 'start')))
  const processes = await Promise.all([LiveProcess.open(site, key), LiveProcess.open(site, key)])
  const typing = processes.map(async (live, index) => {
    for (let round = 0; round < 12; round += 1) {
      textAt(live.doc, index).insert(0, `typed${index}.${round} `)
      await live.flush()
    }
  })
  const folding = processes.map(async (live) => {
    for (let round = 0; round < 12; round += 1) await live.compact()
  })
  const writing = async () => {
    for (let round = 0; round < 6; round += 1) {
      await site.write(key, ({ content }) => body(...content.with(2, p(3, `${words(content[2])} wrote${round}`))))
    }
  }
  await Promise.all([...typing, ...folding, writing()])
  for (const live of processes) await live.sync()
  await processes[0]?.compact()
  const stored = (await site.read(key)).body
  const found = words(stored)
  for (let round = 0; round < 12; round += 1) {
    for (const word of [`typed0.${round}`, `typed1.${round}`]) t.equal(found.split(`${word} `).length, 2, word)
  }
  const opened = await LiveProcess.open(site, key)
  for (const live of [...processes, opened]) t.strictSame(shown(live.doc), stored)
  const head = await site.head(key)
  t.equal(head.n, head.folded_n)
  t.strictSame(await logOf(key.id), [])
})

t.test('a flush and a deletion at the same moment end with a deleted document', async (t) => {
  const live = await LiveProcess.open(site, await site.create(body(p(1, 'one'))))
  textAt(live.doc, 0).insert(0, 'typed ')
  const path = `/documents/${live.key.id}`
  const [flushed, deleted] = await Promise.allSettled([
    live.flush(),
    site.client.delete(path, undefined, { 'if-match': '*' }),
  ])
  t.match(deleted, { value: { status: 204 } })
  if (flushed.status === 'rejected') t.match(flushed.reason, { code: 'document_not_found' })
  await t.rejects(live.flush(), { code: 'document_not_found' })
})

/** Flushes, and checks that every copy of the document is the wanted one, and that the text has one row in the log. */
async function isStoredOnce(t: Test, live: LiveProcess, want: ReturnType<typeof body>) {
  const flushed = await live.flush()
  t.strictSame((await site.read(live.key)).body, want)
  t.strictSame(shown(live.doc), want)
  t.match(await live.flush(), { changed: false })
  const opened = await LiveProcess.open(site, live.key)
  t.strictSame(shown(opened.doc), want)
  t.strictSame(Y.encodeStateVector(opened.doc), Y.encodeStateVector(live.doc))
  const texts = (await logOf(live.key.id)).filter((update) => Buffer.from(update).includes('typed '))
  t.equal(texts.length, 1)
  const back = new Y.Doc()
  copyInto(back, live.doc)
  copyInto(back, opened.doc)
  t.strictSame(shown(back), want)
  return flushed
}

async function logOf(id: string): Promise<Uint8Array[]> {
  const rows = await site.service.database.anyFirst(sql.unsafe`
    SELECT update FROM document_y_updates WHERE document_id = ${id} ORDER BY n`)
  return rows as Uint8Array[]
}

async function connect(t: Test): Promise<pg.Client> {
  const client = new pg.Client(url)
  await client.connect()
  t.teardown(() => client.end())
  return client
}

async function waiting(): Promise<number> {
  const rows = await site.service.database.any(sql.unsafe`
    SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)
  return rows.length
}

async function forbidInserts(t: Test, table: string): Promise<() => Promise<void>> {
  const { database } = site.service
  await database.query(sql.unsafe`
    CREATE OR REPLACE FUNCTION refuse_insert() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN RAISE EXCEPTION ''no more rows''; END'`)
  await database.query(sql.unsafe`
    CREATE TRIGGER refuse_insert BEFORE INSERT OR UPDATE ON ${sql.identifier([table])}
    EXECUTE FUNCTION refuse_insert()`)
  const lift = async () => {
    await database.query(sql.unsafe`DROP TRIGGER IF EXISTS refuse_insert ON ${sql.identifier([table])}`)
  }
  t.teardown(lift)
  return lift
}
