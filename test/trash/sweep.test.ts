import t, { type Test } from 'tap'
import { sql } from '../../shared/database/database.ts'
import { queues } from '../../shared/jobs/queues.ts'
import { trashSweep } from '../../workers/sweeps/trash.ts'
import { p } from '../body/build.ts'
import type { Client } from '../support/client.ts'
import { make } from '../support/documents.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { until } from '../support/site.ts'
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

async function deleteDocuments(client: Client, titles: readonly string[]): Promise<void> {
  for (const title of titles) ok(await client.delete(`/documents/${(await make(client, [p('a')], { title })).id}`))
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
