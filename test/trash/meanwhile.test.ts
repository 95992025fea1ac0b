import { sql } from '../../shared/database/database.ts'
import { p } from '../document/build.ts'
import type { Client } from '../support/client.ts'
import { bodyOf, make, put } from '../support/documents.ts'
import { onlyLong } from '../support/run-options.ts'
import { startTestService } from '../support/service.ts'
import { t } from '../support/tap.ts'
import { edit, ok, review, translate, unitsOf } from '../support/translations.ts'

/* What others did while a thing was in the trash, and what comes back then. */

const service = await startTestService(t)
const { signUp, database } = service

t.test('a translation comes back with the units that its source has by now', async (t) => {
  const ada = await signUp()
  await sameUnits(t, ada, { deleted: 'target', edited: 'source' })
})

t.test('a source comes back to the texts that its translation has by now', async (t) => {
  const ada = await signUp()
  await sameUnits(t, ada, { deleted: 'source', edited: 'target' })
})

t.test('the set of a document is gone, so the document comes back without a language and says so', async (t) => {
  const ada = await signUp()
  const { source, target } = await translate(ada, [p('one')])
  ok(await ada.delete(`/documents/${target}`))
  ok(await ada.post(`/documents/${source.id}/translation/deactivate`))
  t.strictSame(ok(await restored(ada)).data.not_restored, ['document_set', 'translation_units'])
  const ordinary = { document_set_id: null, locale: null, variant_role: null, translation_freshness: 'current' }
  t.match(ok(await ada.get(`/documents/${target}`)).data, ordinary)
  ok(await ada.post(`/documents/${target}/translation/activate`, { source_locale: 'fr' }))
})

t.test('the source of a translation was purged, so its reviews do not come back and the answer says so', async (t) => {
  const ada = await signUp()
  const { source, target } = await translate(ada, [p('one')])
  for (const id of [target, source.id]) ok(await ada.delete(`/documents/${id}`))
  const [ofSource, ofTarget] = ok(await ada.get('/trash')).data
  ok(await ada.delete(`/trash/${ofSource.id}`))
  const { not_restored: notRestored } = ok(await ada.post(`/trash/${ofTarget.id}/restore`)).data
  t.strictSame(notRestored, ['translation_units'])
})

t.test('a relation comes back with the first of its two knowledge bases, whichever was deleted last', async (t) => {
  const ada = await signUp()
  for (const order of [
    ['zoo', 'harbour'],
    ['harbour', 'zoo'],
  ] as const) {
    const { zoo, harbour, relationsOf, remove, entryOf } = await related(ada)
    await remove(zoo)
    t.equal((await relationsOf(harbour)).length, 1, 'a relation with one end stays')
    await remove(harbour)
    const [first, second] = order[0] === 'zoo' ? [zoo, harbour] : [harbour, zoo]
    ok(await ada.post(`/trash/${await entryOf(first)}/restore`))
    t.equal((await relationsOf(first)).length, 1)
    ok(await ada.post(`/trash/${await entryOf(second)}/restore`))
    for (const end of [zoo, harbour]) t.equal((await relationsOf(end)).length, 1)
  }
})

t.test('a relation waits for its other document when the entry that has it is purged', async (t) => {
  const ada = await signUp()
  const { zoo, harbour, relationsOf, remove, entryOf } = await related(ada)
  await remove(zoo)
  await remove(harbour)
  ok(await ada.delete(`/trash/${await entryOf(harbour)}`))
  ok(await ada.post(`/trash/${await entryOf(zoo)}/restore`))
  t.equal((await relationsOf(zoo)).length, 1)
  await remove(zoo)
  ok(await ada.delete(`/trash/${await entryOf(zoo)}`))
  const rows = await database.any(sql.unsafe`
    SELECT FROM relations WHERE workspace_id = ${ada.workspace_id}
    UNION ALL SELECT FROM trash_rows WHERE workspace_id = ${ada.workspace_id}`)
  t.equal(rows.length, 0)
})

t.test('a review of a candidate comes back although the candidate was found again in the meantime', async (t) => {
  const ada = await signUp()
  const { candidate, id, base, other } = await rejected(ada)
  t.strictSame(await statusesOf(ada, other), ['pending'], 'the review is in the trash, and the name was found again')
  ok(await restored(ada))
  t.strictSame(await statusesOf(ada, base), ['rejected'])
  t.strictSame(await statusesOf(ada, other), [])
  const again = ok(await ada.get(`/concept-candidates?knowledge_base_id=${base}&review_status=all`)).data
  t.match(again, [{ id: candidate.id, document_id: id, reviewed_by: ada.user_id }])
})

t.test('a candidate does not come back to a document when its review came back before', async (t) => {
  const ada = await signUp()
  const { id, base, other } = await rejected(ada)
  ok(await ada.delete(`/documents/${id}`))
  const entries = ok(await ada.get('/trash')).data
  for (const entry of entries.toReversed()) ok(await ada.post(`/trash/${entry.id}/restore`))
  t.strictSame(await statusesOf(ada, base), ['rejected'])
  t.strictSame(await statusesOf(ada, other), [])
  t.equal((await extract(ada, id)).skipped_rejected, 1)
})

t.test('what an account that is gone has written comes back without its name', async (t) => {
  const ada = await signUp({ workspace: 'Shared' })
  const bob = await signUp({ workspace: 'Shared' })
  const { id } = await make(bob, [p('one')])
  await put(bob, id, [p('two')])
  ok(await ada.delete(`/documents/${id}`))
  await database.query(sql.unsafe`DELETE FROM users WHERE id = ${bob.user_id}`)
  ok(await restored(ada))
  t.match(ok(await ada.get(`/documents/${id}`)).data, { created_by: null, updated_by: null })
  t.match(ok(await ada.get(`/documents/${id}/versions`)).data, [{ created_by: null }])
})

t.test('what was deleted before an upgrade of the service comes back after it', async (t) => {
  const own = await startTestService(t)
  const ada = await own.signUp()
  const { id } = await make(ada, [p('one')])
  ok(await ada.delete(`/documents/${id}`))
  await own.database.query(sql.unsafe`ALTER TABLE documents ADD COLUMN added text NOT NULL DEFAULT 'later'`)
  await own.database.query(sql.unsafe`ALTER TABLE document_bodies ADD COLUMN added timestamptz`)
  ok(await restored(ada))
  t.equal((await ada.get(`/documents/${id}/content`)).status, 200)
  const row = await own.database.one(sql.unsafe`SELECT added FROM documents WHERE id = ${id}`)
  t.strictSame(row, { added: 'later' })
})

t.test('thousands of folders and documents come back although they are restored in slices', onlyLong, async (t) => {
  const own = await startTestService(t, { QUOTA_FOLDERS: '5000' })
  const ada = await own.signUp()
  const { id } = await make(ada, [p('one')])
  const { workspace_id: workspaceId, knowledge_base_id: base } = ok(await ada.get(`/documents/${id}`)).data
  // Each folder is in a folder that was made later, as after many moves.
  await own.database.query(sql.unsafe`
    WITH ids AS (
      INSERT INTO folder_directory (workspace_id) SELECT ${workspaceId} FROM generate_series(1, 2500) RETURNING id
    )
    INSERT INTO folders (workspace_id, id, knowledge_base_id, parent_id, name)
    SELECT ${workspaceId}, id, ${base}, lead(id) OVER (ORDER BY id), 'Folder' FROM ids`)
  await own.database.query(sql.unsafe`
    INSERT INTO document_directory (id, workspace_id)
    SELECT 'doc_' || n, ${workspaceId} FROM generate_series(1, 2500) AS n`)
  await own.database.query(sql.unsafe`
    INSERT INTO documents SELECT d.* FROM generate_series(1, 2500) AS n
    CROSS JOIN LATERAL (
      SELECT (jsonb_populate_record(o, jsonb_build_object('id', 'doc_' || n))).* FROM documents o WHERE o.id = ${id}) AS d`)
  const contents = async () => {
    const { document_count, folder_count } = ok(await ada.get(`/knowledge-bases/${base}`)).data
    return { document_count, folder_count }
  }
  const whole = { document_count: 2501, folder_count: 2500 }
  t.strictSame(await contents(), whole)
  ok(await ada.delete(`/knowledge-bases/${base}?confirm_id=${base}`))
  ok(await restored(ada))
  t.strictSame(await contents(), whole)
  const created = await own.database.any(sql.unsafe`
    SELECT DISTINCT document_id FROM events WHERE name = 'document.created' AND document_id <> ${id}`)
  t.equal(created.length, 2500, 'everybody who follows the events hears of each document')
})

type Roles = { deleted: 'source' | 'target'; edited: 'source' | 'target' }

// Makes the same edits twice: once while the other document of the pair is in the trash, and once while it is not.
async function sameUnits(t: { strictSame: (found: unknown, wanted: unknown) => unknown }, ada: Client, roles: Roles) {
  const results = []
  for (const isDeleted of [true, false]) {
    const { source, target } = await translate(ada, [p('one'), p('two'), p('three'), p('four')])
    const { blocks } = await bodyOf(ada, target)
    for (const [index, text] of ['un', 'deux', 'trois'].entries()) {
      await edit(ada, target, { block: String(blocks[index]?.attrs.id), text })
    }
    for (const unit of (await unitsOf(ada, target)).slice(0, 3)) {
      ok(await review(ada, target, { unit: unit.id, review_status: 'current' }))
    }
    const before = new Map((await unitsOf(ada, target)).map(({ source_block_id, id }) => [source_block_id, id]))
    const documents = { source: source.id, target }
    if (isDeleted) ok(await ada.delete(`/documents/${documents[roles.deleted]}`))
    const edited = documents[roles.edited]
    const [first, second] = (await bodyOf(ada, edited)).blocks
    await edit(ada, edited, { block: String(first?.attrs.id), text: 'changed' })
    ok(await ada.delete(`/documents/${edited}/blocks/${second?.attrs.id}`))
    const position = { document_end: true }
    ok(await ada.post(`/documents/${edited}/blocks`, { position, nodes: [p('added')] }))
    if (isDeleted) ok(await restored(ada))
    const { translation_freshness } = ok(await ada.get(`/documents/${target}`)).data
    const units = (await unitsOf(ada, target)).map(({ id, source_block_id, source_text, target_text, status }) => {
      return { source_text, target_text, status, isKept: before.get(source_block_id) === id }
    })
    results.push({ translation_freshness, units })
  }
  t.strictSame(results[0], results[1])
}

type End = { base: number; document: string }

// Two knowledge bases, whose documents are related.
async function related(ada: Client) {
  const place = async (name: string): Promise<End> => {
    const base = ok(await ada.post('/knowledge-bases', { name })).data.id
    return { base, document: (await make(ada, [p('one')], { knowledge_base_id: base })).id }
  }
  const [zoo, harbour] = [await place('Zoo'), await place('Harbour')]
  const { blocks } = await bodyOf(ada, zoo.document)
  ok(
    await ada.post('/relations', {
      source_document_id: zoo.document,
      source_block_id: blocks[0]?.attrs.id,
      target_uri: `svc://doc/${harbour.document}`,
    }),
  )
  return {
    zoo,
    harbour,
    relationsOf: async ({ document }: End) => ok(await ada.get(`/documents/${document}/relations`)).data,
    remove: async ({ base }: End) => ok(await ada.delete(`/knowledge-bases/${base}?confirm_id=${base}`)),
    entryOf: async ({ base }: End) => ok(await ada.get(`/trash?knowledge_base_id=${base}`)).data[0].id,
  }
}

// Rejects the candidate of a document, moves the document to another knowledge base, and deletes the first one. Then
// the name is found again.
async function rejected(ada: Client) {
  const base: number = ok(await ada.post('/knowledge-bases', { name: 'Base' })).data.id
  const other: number = ok(await ada.post('/knowledge-bases', { name: 'Other' })).data.id
  const { id } = await make(ada, [p('one')], { title: 'Handbook', knowledge_base_id: base })
  const [candidate] = (await extract(ada, id)).candidates
  ok(await ada.post(`/concept-candidates/${candidate.id}/reject`, {}, { 'if-match': '*' }))
  ok(await ada.patch(`/documents/${id}`, { knowledge_base_id: other }))
  ok(await ada.delete(`/knowledge-bases/${base}?confirm_id=${base}`))
  await extract(ada, id)
  return { candidate, id, base, other }
}

async function extract(ada: Client, id: string) {
  return ok(await ada.post('/concept-candidates/extract', { document_id: id })).data
}

// The review statuses of all candidates of a knowledge base.
async function statusesOf(ada: Client, base: number): Promise<string[]> {
  const { data } = ok(await ada.get(`/concept-candidates?knowledge_base_id=${base}&review_status=all`))
  return data.map(({ review_status }: { review_status: string }) => review_status)
}

async function restored(ada: Client) {
  const [entry] = ok(await ada.get('/trash?limit=1')).data
  return ada.post(`/trash/${entry.id}/restore`)
}
