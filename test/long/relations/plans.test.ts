import Type from 'typebox'
import { blocksChangedSince, chainPage, pendingManifests } from '../../../shared/changes/queries.ts'
import { type Database, sql, type Transaction } from '../../../shared/database/database.ts'
import { row } from '../../../shared/database/row.ts'
import { extractions } from '../../../shared/relations/extract.ts'
import { existingBlocks, relationPage } from '../../../shared/relations/list.ts'
import { p } from '../../document/build.ts'
import { make } from '../../support/documents.ts'
import { startTestService } from '../../support/service.ts'
import { type Test, t } from '../../support/tap.ts'

const referrers = 10_000

t.test('a document that ten thousand others refer to lists them without looking at the rest', async (t) => {
  const service = await startTestService(t)
  const ada = await service.signUp()
  const hub = await make(ada, [p('hub')], { id: 'doc_hub' })
  await seed(service.database)
  const key = { workspace_id: ada.workspace_id, document_id: hub.id }
  const filter = {
    document: { workspace_id: ada.workspace_id, id: hub.id },
    workspaceIds: [ada.workspace_id],
    predicate: undefined,
    after: null,
    limit: 50,
  }
  for (const direction of ['incoming', 'outgoing', 'both'] as const) {
    for (const limit of [50, 100, 1000]) {
      await readsIndexes(t, service.database, (db) => relationPage(db, { ...filter, direction, limit }))
    }
  }
  const after = { createdAt: Date.now() - 5_000_000, id: 'rel_x' }
  await readsIndexes(t, service.database, (db) => relationPage(db, { ...filter, direction: 'incoming', after }))
  await readsIndexes(t, service.database, (db) => extractions(db, [key]))
  const block = { ...key, block_id: hub.blocks[0]?.attrs.id ?? '' }
  await readsIndexes(t, service.database, (db) => existingBlocks(db, [block]))
  await readsIndexes(t, service.database, (db) => pendingManifests(db, [key], { limit: 1001, bytes: 1e6 }))
  await readsIndexes(t, service.database, (db) => chainPage(db, { ...key, from: 1, limit: 102 }))
  await readsIndexes(t, service.database, (db) => blocksChangedSince(db, { ...key, versions: ['v'], limit: 100 }))

  const pages: string[] = []
  const times: number[] = []
  for (let round = 0; round < 20; round += 1) {
    const started = performance.now()
    await ada.get(`/documents/${hub.id}/relations?direction=incoming&limit=100`)
    times.push(performance.now() - started)
  }
  times.sort((a, b) => a - b)
  t.comment(`first page of ${referrers}, 100 of them: median ${times[10]?.toFixed(1)} ms over HTTP`)
  for (let cursor = ''; ; ) {
    const { body } = await ada.get(`/documents/${hub.id}/relations?direction=incoming&limit=100${cursor}`)
    pages.push(...body.data.map(({ id }: { id: string }) => id))
    if (!body.page.has_more) break
    cursor = `&cursor=${body.page.next_cursor}`
  }
  t.equal(new Set(pages).size, referrers, 'and every one of them is found')
})

t.test('the ids of documents are ordered alike in every table, so that every join can use an index', async (t) => {
  const { database } = await startTestService(t)
  const columns = await database.any(sql.type(row(Type.Object({ column: Type.String() })))`
    SELECT c.table_name || '.' || c.column_name AS column FROM information_schema.columns c
    JOIN pg_tables p ON p.schemaname = c.table_schema AND p.tablename = c.table_name
    WHERE c.table_schema = 'public' AND c.collation_name IS DISTINCT FROM 'C'
      AND (c.column_name LIKE '%document\\_id' OR c.column_name = 'inline_source_id')`)
  t.strictSame(columns, [])
})

// Documents of one block, each with a link to the hub, in the state in which the workers leave them.
async function seed(database: Database): Promise<void> {
  for (const statement of [
    sql.unsafe`
      INSERT INTO document_directory (id, workspace_id)
      SELECT 'doc_' || n, workspace_id FROM documents, generate_series(1, ${referrers}) AS n WHERE id = 'doc_hub'`,
    sql.unsafe`
      INSERT INTO documents (workspace_id, id, knowledge_base_id, title, document_type, heading_numbered,
        collapsed_block_ids, version, body_seq, character_count, node_count)
      SELECT workspace_id, 'doc_' || n, knowledge_base_id, 'Referrer ' || n, 'document', false, '{}', version, 1, 1, 1
      FROM documents, generate_series(1, ${referrers}) AS n WHERE id = 'doc_hub'`,
    sql.unsafe`
      INSERT INTO document_bodies (workspace_id, document_id, body_seq, version, body)
      SELECT d.workspace_id, d.id, 1, d.version, b.body FROM documents d
      JOIN document_bodies b ON b.document_id = 'doc_hub' WHERE d.id <> 'doc_hub'`,
    sql.unsafe`
      INSERT INTO relation_extractions (workspace_id, document_id, source_version, body_seq)
      SELECT workspace_id, id, version, 1 FROM documents`,
    sql.unsafe`
      INSERT INTO relations (workspace_id, id, origin, predicate, source_document_id, source_block_id, target_uri,
        target_document_id, anchor_text, created_at)
      SELECT workspace_id, 'rel_' || id, 'inline', 'refers_to', id, 'block_' || id, 'svc://doc/doc_hub', 'doc_hub',
        'hub', now() - random() * interval '2 hours'
      FROM documents WHERE id <> 'doc_hub'`,
    sql.unsafe`
      INSERT INTO document_manifests (workspace_id, document_id, body_seq, version)
      SELECT workspace_id, id, 1, version FROM documents ON CONFLICT DO NOTHING`,
    sql.unsafe`
      INSERT INTO change_chains (workspace_id, document_id, chain, base_seq, projected_seq)
      SELECT workspace_id, id, 1, 1, 1 FROM documents`,
    sql.unsafe`
      INSERT INTO change_batches (workspace_id, document_id, body_seq, source_version, changed_at, changes)
      SELECT workspace_id, id, 1, version, now(), '[]' FROM documents`,
    sql.unsafe`ANALYZE`,
  ]) {
    await database.query(statement)
  }
}

const Plan = row(Type.Object({ 'QUERY PLAN': Type.Unknown() }))
type PlanNode = { 'Node Type': string; 'Relation Name'?: string; Plans?: PlanNode[] }

// Runs the statement of a query as EXPLAIN: the query itself then sees no rows.
async function readsIndexes(t: Test, database: Database, query: (db: Transaction) => Promise<unknown>): Promise<void> {
  const plans: PlanNode[] = []
  const explain = async (token: { sql: string }): Promise<never> => {
    const statement = { ...token, sql: `EXPLAIN (FORMAT JSON) ${token.sql}`, parser: Plan, name: undefined }
    const answer = await database.one(statement as unknown as Parameters<Database['one']>[0])
    plans.push(...(answer as { 'QUERY PLAN': { Plan: PlanNode }[] })['QUERY PLAN'].map(({ Plan: plan }) => plan))
    throw new Explained()
  }
  const db = { ...database, any: explain, one: explain, maybeOne: explain, query: explain } as unknown as Transaction
  await query(db).catch((error) => {
    if (!(error instanceof Explained)) throw error
  })
  t.ok(plans.length > 0)
  const scanned = plans.flatMap(nodes).filter((node) => node['Node Type'] === 'Seq Scan')
  t.strictSame(
    scanned.map((node) => node['Relation Name']),
    [],
    'no table is read from one end to the other',
  )
}

class Explained extends Error {}

function nodes(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodes)]
}
