import Type from 'typebox'
import { sql } from '../../shared/database/database.ts'
import { row } from '../../shared/database/row.ts'
import { tokeniserEpoch } from '../../shared/search/text/tokenise.ts'
import { startTestService } from '../support/service.ts'
import { t } from '../support/tap.ts'

const service = await startTestService(t)
const { database } = service
const count = 3000
const { workspaceId, base } = await createDocuments()

const Coverage = row(
  Type.Object({
    document_count: Type.Number(),
    stale_document_count: Type.Number(),
    stale_document_ids: Type.Array(Type.String()),
  }),
)

const scopes = {
  everything: { base: null, locale: null, translations: true },
  'what is searched by default': { base: null, locale: null, translations: false },
  'one knowledge base': { base, locale: null, translations: true },
  'one language': { base: null, locale: 'de', translations: true },
}

t.test('after a change of the tokeniser a search waits for no row of the documents it counts', async (t) => {
  t.ok((await buffersOf(scopes.everything)) < count / 10, 'all documents')
  await change(sql.unsafe`
    UPDATE documents SET variant_role = 'translation', locale = 'de' WHERE id < 'doc_4' AND workspace_id = ${workspaceId}`)
  await vacuum()
  for (const [name, scope] of Object.entries(scopes)) t.ok((await buffersOf(scope)) < count / 5, name)
})

t.test('after a change of the tokeniser a search counts every document that waits, once', async (t) => {
  await change(sql.unsafe`UPDATE search_documents SET epoch = ${tokeniserEpoch + 1} WHERE document_id > 'doc_b'`)
  await change(
    sql.unsafe`UPDATE search_documents SET epoch = ${tokeniserEpoch} WHERE document_id BETWEEN 'doc_2' AND 'doc_6'`,
  )
  await change(sql.unsafe`
    INSERT INTO stale_projections (workspace_id, projection, document_id, event_row_no)
    SELECT workspace_id, 'search', id, 1 FROM documents WHERE workspace_id = ${workspaceId} AND id LIKE 'doc_%1'`)
  for (const [name, scope] of Object.entries(scopes)) {
    const { stale_document_count, stale_document_ids, document_count } = await coverage(scope)
    const waiting = await waitingOf(scope)
    t.ok(waiting.length > 100 && waiting.length < document_count, name)
    t.equal(stale_document_count, waiting.length, name)
    t.strictSame(stale_document_ids, waiting.slice(0, 100), name)
  }
})

type Scope = (typeof scopes)[keyof typeof scopes]

function coverageOf({ base, locale, translations }: Scope) {
  return sql.fragment`
    search_coverage(${sql.array([workspaceId], 'text')}, ${base}, ${locale}, ${translations}, ${tokeniserEpoch}::int2)`
}

function coverage(scope: Scope) {
  return database.one(sql.type(Coverage)`
    SELECT document_count, stale_document_count, stale_document_ids FROM ${coverageOf(scope)}`)
}

/** What the function has to find, asked in the simplest way. */
async function waitingOf({ base, locale, translations }: Scope): Promise<string[]> {
  const ids = await database.anyFirst(sql.unsafe`
    SELECT d.id FROM documents d JOIN search_documents s ON s.workspace_id = d.workspace_id AND s.document_id = d.id
    WHERE d.workspace_id = ${workspaceId} AND (${base}::bigint IS NULL OR d.knowledge_base_id = ${base})
      AND (${locale}::text IS NULL OR d.locale = ${locale})
      AND (${translations} OR d.variant_role IS DISTINCT FROM 'translation')
      AND (s.epoch <> ${tokeniserEpoch} OR EXISTS (
        SELECT FROM stale_projections p WHERE p.document_id = d.id AND p.projection = 'search'))
    ORDER BY d.id`)
  return ids.map(String)
}

/** How many pages a search looks at to count, on a connection that has counted before. */
function buffersOf(scope: Scope): Promise<number> {
  return database.connect(async (connection) => {
    const explain = sql.unsafe`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT * FROM ${coverageOf(scope)}`
    await connection.query(explain)
    const [{ Plan: plan }] = (await connection.oneFirst(explain)) as [{ Plan: Record<string, number> }]
    return (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0)
  })
}

// Copies of one document whose index has an outline as long as usual.
async function createDocuments() {
  const ada = await service.signUp()
  const made = await Promise.all(['One', 'Two'].map((name) => ada.post('/knowledge-bases', { name })))
  const [base, other] = made.map(({ body }) => Number(body.data.id)) as [number, number]
  const { id } = (await ada.post('/documents', { title: 'Text', knowledge_base_id: base })).body.data
  const workspaceId = String(await database.oneFirst(sql.unsafe`SELECT workspace_id FROM documents WHERE id = ${id}`))
  await change(sql.unsafe`
    INSERT INTO document_directory (id, workspace_id)
    SELECT 'doc_' || md5(n::text), ${workspaceId} FROM generate_series(1, ${count}) n`)
  await change(sql.unsafe`
    INSERT INTO documents (workspace_id, id, knowledge_base_id, title, document_type, heading_numbered,
      collapsed_block_ids, version, body_seq, character_count, node_count)
    SELECT d.workspace_id, c.id, CASE WHEN c.id LIKE '%7' THEN ${other}::bigint ELSE ${base} END, d.title,
      d.document_type, d.heading_numbered, d.collapsed_block_ids, d.version, 1, 0, 1
    FROM documents d JOIN document_directory c ON c.workspace_id = d.workspace_id AND c.id <> d.id WHERE d.id = ${id}`)
  await change(sql.unsafe`DELETE FROM documents WHERE id = ${id}`)
  await change(sql.unsafe`
    INSERT INTO search_documents (workspace_id, document_id, source_version, body_seq, title, language, epoch, outline)
    SELECT workspace_id, id, version, 1, title, 'en', ${tokeniserEpoch - 1}, jsonb_build_object(
      'headings', '[]'::jsonb, 'ids', (SELECT jsonb_agg('block_' || md5(id || n)) FROM generate_series(1, 20) n))
    FROM documents WHERE workspace_id = ${workspaceId}`)
  await vacuum()
  return { workspaceId, base }
}

async function change(statement: ReturnType<typeof sql.unsafe>) {
  await database.query(statement)
}

// VACUUM marks a page as visible to everybody when its rows are on disk and no open transaction is older. The service
// opens transactions at any time, so VACUUM is repeated until it has marked every page. Of itself it would leave a few
// dead rows in their pages.
async function vacuum() {
  const hidden = sql.unsafe`
    SELECT coalesce(sum(relpages - relallvisible), 0)::int AS pages FROM pg_class
    WHERE oid IN ('search_documents'::regclass, 'documents'::regclass)`
  do {
    await change(sql.unsafe`CHECKPOINT`)
    await change(sql.unsafe`VACUUM (ANALYZE, INDEX_CLEANUP ON) search_documents, documents`)
  } while (Number(await database.oneFirst(hidden)) > 0)
}
