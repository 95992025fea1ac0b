import Type from 'typebox'
import { sql } from '../../shared/database/database.ts'
import { row } from '../../shared/database/row.ts'
import { p } from '../document/build.ts'
import type { Client } from '../support/client.ts'
import { make } from '../support/documents.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { t } from '../support/tap.ts'
import { ok, translate, unitsOf } from '../support/translations.ts'

/* What a deletion or restoration of much costs, and what others do beside it. */

t.test('documents that were edited live for long are deleted in slices of some megabytes', async (t) => {
  const service = await startTestService(t)
  const ada = await service.signUp()
  const { folder, ids } = await filled(ada, 4)
  await service.database.query(sql.unsafe`
    INSERT INTO document_y_states (workspace_id, document_id, state, body_seq)
    SELECT workspace_id, id, b.bytes, body_seq FROM documents
    CROSS JOIN (
      SELECT string_agg(decode(md5(n::text), 'hex'), '' ORDER BY n) AS bytes FROM generate_series(1, 200000) AS n) AS b
    WHERE id = ANY(${sql.array(ids, 'text')})`)
  await recordDeletions(service, { table: 'document_y_states', column: 'state' })
  ok(await ada.delete(`/folders/${folder}`))
  const bytes = await service.database.anyFirst(sql.type(BytesRow)`SELECT bytes FROM recorded_deletions`)
  t.strictSame(
    bytes.filter((size) => size > 8 * 1024 * 1024),
    [],
  )
  t.equal(
    bytes.reduce((sum, size) => sum + size, 0),
    4 * 200_000 * 16,
  )
})

t.test('a restoration for which a quota has no room does no work before it is refused', async (t) => {
  const service = await startTestService(t, { QUOTA_DOCUMENTS: '3' })
  const ada = await service.signUp()
  const { folder } = await filled(ada, 2)
  ok(await ada.delete(`/folders/${folder}`))
  for (const _ of [1, 2]) await make(ada, [p('one')])
  await service.database.query(sql.unsafe`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'a document was written'; END $$`)
  await service.database.query(sql.unsafe`
    CREATE TRIGGER refuse BEFORE INSERT ON documents FOR EACH ROW EXECUTE FUNCTION refuse()`)
  const [entry] = ok(await ada.get('/trash')).data
  const details = { quota: 'documents', limit: 3, used: 2 }
  t.match(await ada.post(`/trash/${entry.id}/restore`), {
    status: 409,
    body: { error: { code: 'quota_exceeded', details } },
  })
})

t.test('a folder that comes back to another knowledge base is written once', async (t) => {
  const service = await startTestService(t)
  const ada = await service.signUp({ workspace: 'Shared' })
  const bob = await service.signUp({ workspace: 'Shared' })
  const { folder, ids } = await filled(ada, 2)
  const { base: other } = await filled(ada, 0)
  const before = ok(await ada.get(`/documents/${ids[0]}`)).data
  ok(await ada.delete(`/folders/${folder}`))
  await service.database.query(sql.unsafe`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'written again'; END $$`)
  for (const table of ['documents', 'folders']) {
    await service.database.query(sql.unsafe`
      CREATE TRIGGER refuse BEFORE UPDATE ON ${sql.identifier([table])} FOR EACH ROW EXECUTE FUNCTION refuse()`)
  }
  const [entry] = ok(await ada.get('/trash')).data
  const restored = ok(await bob.post(`/trash/${entry.id}/restore`, { knowledge_base_id: other })).data
  t.match(restored, { knowledge_base_id: other, parent_id: null })
  const after = ok(await ada.get(`/documents/${ids[0]}`)).data
  t.match(after, { knowledge_base_id: other, folder_id: folder, updated_by: bob.user_id })
  t.ok(after.updated_at > before.updated_at, 'the move is the last change')
  t.ok(restored.updated_at > before.updated_at)
})

t.test('a translation comes back without any computing when neither it nor its source was written', async (t) => {
  const service = await startTestService(t)
  const ada = await service.signUp()
  const { source, target } = await translate(ada, [p('one'), p('two')])
  const before = await unitsOf(ada, target)
  await service.database.query(sql.unsafe`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'units were computed'; END $$`)
  for (const id of [source.id, target]) {
    ok(await ada.delete(`/documents/${id}`))
    await service.database.query(sql.unsafe`
      CREATE TRIGGER refuse BEFORE DELETE ON translation_units EXECUTE FUNCTION refuse()`)
    const [entry] = ok(await ada.get('/trash')).data
    ok(await ada.post(`/trash/${entry.id}/restore`))
    t.strictSame(await unitsOf(ada, target), before)
    await service.database.query(sql.unsafe`DROP TRIGGER refuse ON translation_units`)
  }
})

const BytesRow = row(Type.Object({ bytes: Type.Number() }))

// Records how many bytes of a column each statement deletes.
async function recordDeletions({ database }: TestService, { table, column }: { table: string; column: string }) {
  await database.query(sql.unsafe`CREATE TABLE recorded_deletions (bytes bigint)`)
  await database.query(sql.unsafe`
    CREATE FUNCTION record_deletions() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO recorded_deletions
      SELECT coalesce(sum(octet_length(${sql.identifier([column])})), 0) FROM deleted;
      RETURN NULL;
    END
    $$`)
  await database.query(sql.unsafe`
    CREATE TRIGGER recorded AFTER DELETE ON ${sql.identifier([table])}
    REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION record_deletions()`)
}

// A folder with documents.
async function filled(ada: Client, documents: number): Promise<{ folder: number; base: number; ids: string[] }> {
  const base = ok(await ada.post('/knowledge-bases', { name: 'Base' })).data.id
  const folder = ok(await ada.post('/folders', { name: 'Folder', knowledge_base_id: base })).data.id
  const ids: string[] = []
  for (let n = 0; n < documents; n += 1) ids.push((await make(ada, [p('one')], { folder_id: folder })).id)
  return { folder, base, ids }
}
