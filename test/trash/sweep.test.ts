import { sql } from '../../shared/database/database.ts'
import { queues } from '../../shared/jobs/queues.ts'
import { trashSweep } from '../../workers/sweeps/trash.ts'
import { p } from '../document/build.ts'
import { uploaded } from '../support/attachments.ts'
import { Client } from '../support/client.ts'
import { make, refused } from '../support/documents.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { type Test, t } from '../support/tap.ts'
import { ok } from '../support/translations.ts'
import { startWorkers } from '../support/workers.ts'

t.test('one entry that cannot be deleted does not keep the bytes of all later ones', async (t) => {
  const service = await startTestService(t)
  const ada = await service.signUp()
  await deleteDocuments(ada, ['the first', 'the second', 'the third'])
  await service.database.query(sql.unsafe`UPDATE trash_entries SET expires_at = now()`)
  await service.database.query(sql.unsafe`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'broken'; END $$`)
  await service.database.query(sql.unsafe`
    CREATE TRIGGER refuse BEFORE DELETE ON trash_entries
    FOR EACH ROW WHEN (old.name = 'the first') EXECUTE FUNCTION refuse()`)
  await sweep(t, service)
  t.strictSame(await names(service), ['the first'])
  await service.database.query(sql.unsafe`DROP TRIGGER refuse ON trash_entries`)
  await sweep(t, service)
  t.strictSame(await names(service), [], 'the next run tries it again')
})

t.test('an entry of many large bodies is deleted by statements that each end soon', async (t) => {
  const service = await startTestService(t)
  const { database } = service
  const ada = await service.signUp()
  await deleteDocuments(ada, ['large'])
  await database.query(sql.unsafe`ALTER TABLE trash_rows ALTER COLUMN large_text SET STORAGE EXTERNAL`)
  await database.query(sql.unsafe`
    INSERT INTO trash_rows (workspace_id, entry_id, table_name, row, large_text)
    SELECT e.workspace_id, e.id, 'document_bodies', '{}', repeat('x', 5000000)
    FROM trash_entries e CROSS JOIN generate_series(1, 20)`)
  await database.query(sql.unsafe`CREATE TABLE statements (bytes int8)`)
  await database.query(sql.unsafe`
    CREATE FUNCTION measure() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      INSERT INTO statements SELECT sum(octet_length(large_text)) FROM deleted;
      RETURN NULL;
    END $$`)
  await database.query(sql.unsafe`
    CREATE TRIGGER measure AFTER DELETE ON trash_rows REFERENCING OLD TABLE AS deleted
    FOR EACH STATEMENT EXECUTE FUNCTION measure()`)
  const [{ id }] = ok(await ada.get('/trash')).data
  ok(await ada.delete(`/trash/${id}`))
  t.strictSame(await database.any(sql.unsafe`SELECT FROM trash_rows`), [])
  const largest = await database.oneFirst(sql.unsafe`SELECT max(bytes) FROM statements`)
  t.ok(Number(largest) <= 40_000_000, `one statement deleted ${largest} bytes`)
})

t.test('a shorter retention reaches what was deleted before, so that an operator can keep a promise', async (t) => {
  const before = await startTestService(t)
  const ada = await before.signUp()
  await deleteDocuments(ada, ['old', 'new'])
  await before.database.query(sql.unsafe`
    UPDATE trash_entries SET deleted_at = deleted_at - interval '8 days', expires_at = expires_at - interval '8 days'
    WHERE name = 'old'`)
  const same = { DATABASE_URL: before.url, DATA_DIR: before.config.DATA_DIR }
  const week = await startTestService(t, { ...same, TRASH_RETENTION_DAYS: '7' })
  const entries = ok(await ada.get('/trash')).data
  t.strictSame(
    entries.map(({ name }: { name: string }) => name),
    ['new', 'old'],
  )
  const later = new Client({ origin: week.origin, token: ada.token })
  const { data: left } = ok(await later.get('/trash'))
  t.match(left, [{ name: 'new', expires_at: left[0].deleted_at + 7 * 86_400_000 }])
  t.equal(left.length, 1)
  t.strictSame(ok(await later.get('/trash?q=old')).data, [])
  const gone = { status: 404, code: 'trash_not_found' } as const
  refused(t, await later.post(`/trash/${entries[1].id}/restore`), gone)
  refused(t, await later.delete(`/trash/${entries[1].id}`), gone)
  await sweep(t, week)
  t.strictSame(await names(week), ['new'])

  const final = await startTestService(t, { ...same, TRASH_RETENTION_DAYS: '0' })
  const last = new Client({ origin: final.origin, token: ada.token })
  t.strictSame(ok(await last.get('/trash')).data, [])
  refused(t, await last.post(`/trash/${entries[0].id}/restore`), gone)
  await sweep(t, final)
  t.strictSame(await names(final), [])
})

t.test('who deletes and creates again and again cannot fill the disk: the oldest entries go', async (t) => {
  const service = await startTestService(t, { QUOTA_ATTACHMENT_BYTES: '1000', QUOTA_DOCUMENTS: '1' })
  const [ada, bob] = [await service.signUp(), await service.signUp()]
  await deleteDocuments(bob, ['of another workspace'])
  await deleteDocuments(ada, ['a', 'b', 'c'], { bytes: 400 })
  await sweep(t, service)
  t.strictSame(await names(service), ['of another workspace', 'b', 'c'], 'more bytes than the workspace may have')
  const many = Array.from({ length: 9 }, (_, index) => `${index}`)
  await deleteDocuments(ada, many)
  await sweep(t, service)
  t.strictSame(await names(service), ['of another workspace', 'c', ...many], 'more than ten times as many documents')
  const { data } = ok(await ada.get('/trash?q=c'))
  ok(await ada.post(`/trash/${data[0].id}/restore`))
})

async function deleteDocuments(client: Client, titles: readonly string[], { bytes = 0 } = {}): Promise<void> {
  for (const title of titles) {
    const { id } = await make(client, [p('a')], { title })
    if (bytes > 0) {
      await uploaded(client, { documentId: id, bytes: 'x'.repeat(bytes), filename: 'a.txt', type: 'text/plain' })
    }
    ok(await client.delete(`/documents/${id}`))
  }
}

async function names({ database }: TestService): Promise<unknown> {
  return database.anyFirst(sql.unsafe`SELECT name FROM trash_entries ORDER BY id`)
}

// Runs the sweep of the trash once.
async function sweep(t: Test, service: TestService): Promise<void> {
  const { runtime, stop } = await startWorkers(t, service, [trashSweep])
  await runtime.jobs.boss.send(queues.sweepTrash.name, {})
  await until(async () => {
    const open = await service.database.any(sql.unsafe`
      SELECT FROM pgboss.job WHERE name = ${queues.sweepTrash.name} AND state <> 'completed'`)
    return open.length === 0
  })
  await stop()
}
