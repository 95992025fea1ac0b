import pg from 'pg'
import t, { type Test } from 'tap'
import { routes } from '../api/routes/routes.ts'
import { createFixture, type Fixture, withModel } from './contract/fixtures.ts'
import type { Client } from './support/client.ts'
import { startTestService } from './support/service.ts'

const documents = 20_000
// A statement of a page of 50 items may read so many rows, or sort them. A list of a whole base would read 20,000.
const mostRows = 2500

// The calls whose statements are inspected, for each list route. Every query parameter of the route occurs in them.
const callsOf: Record<string, (f: Fixture) => string[]> = {
  search: () => ['/search?q=rare77&limit=50', '/search?q=rare77%20common&knowledge_base_id=$BASE'],
  searchV2: () => [
    '/search/v2?q=rare77&limit=50&include_summary=true',
    '/search/v2?q=rare77%20common&knowledge_base_id=$BASE&locale=all',
    '/search/v2?q=rare77&mode=exhaustive&limit=50&cursor=',
  ],
  listRelationTypes: () => ['/relation-types?limit=5&cursor='],
  listRelations: ({ documentId }) => [
    `/documents/${documentId}/relations?limit=50&cursor=`,
    `/documents/${documentId}/relations?limit=50&direction=incoming&predicate=refers_to&cursor=`,
  ],
  // Names of concepts are looked through in their order. This part is near, since it is in all of them.
  listConcepts: () => [
    '/concepts?knowledge_base_id=$BASE&limit=50&cursor=',
    '/concepts?knowledge_base_id=$BASE&limit=50&q=concept%20&cursor=',
    '/concepts?knowledge_base_id=$BASE&limit=50&status=all&document_id=doc_77',
  ],
  traverseConcept: ({ conceptId }) => [
    `/concepts/${conceptId}/traverse?limit=50&cursor=`,
    `/concepts/${conceptId}/traverse?limit=50&at=1&direction=incoming&predicate=related_to`,
  ],
  listConceptCandidates: ({ candidateId }) => [
    '/concept-candidates?knowledge_base_id=$BASE&limit=50&cursor=',
    '/concept-candidates?knowledge_base_id=$BASE&limit=50&review_status=all&cursor=',
    '/concept-candidates?knowledge_base_id=$BASE&limit=50&review_status=accepted&document_id=doc_77',
    `/concept-candidates?knowledge_base_id=$BASE&candidate_id=${candidateId}`,
  ],
  listKnowledgeBases: () => ['/knowledge-bases?limit=50&cursor='],
  listFolderChildren: ({ folderId }) => [
    `/folders/${folderId}/children?limit=50&cursor=`,
    `/folders/${folderId}/children?limit=100&cursor=`,
  ],
  listDocuments: ({ folderId }) => [
    ...['', '&knowledge_base_id=$BASE', `&folder_id=${folderId}`].flatMap((place) => [
      `/documents?limit=50${place}&cursor=`,
      `/documents?limit=50${place}&q=title&cursor=`,
      `/documents?limit=50${place}&q=e%20777&cursor=`,
      `/documents?limit=50${place}&q=zzz&sort=updated_at`,
      `/documents?limit=50${place}&include_variants=true&cursor=`,
      `/documents?limit=50${place}&sort=updated_at&cursor=`,
      `/documents?limit=50${place}&sort=updated_at&updated_since=0&cursor=`,
      `/documents?limit=50${place}&locale=de&cursor=`,
      `/documents?limit=50${place}&locale=fr&sort=updated_at`,
    ]),
  ],
  listVersions: ({ documentId }) => [`/documents/${documentId}/versions?limit=50&cursor=`],
  listBlocks: ({ documentId }) => [`/documents/${documentId}/blocks?limit=1&recursive=true&cursor=`],
  listChanges: ({ documentId }) => [`/documents/${documentId}/changes?limit=50&after=`],
  listTranslationAudit: ({ documentId }) => [`/documents/${documentId}/translation-audit?limit=50&cursor=`],
  listLocalizationAudit: ({ documentId }) => [`/documents/${documentId}/localization-audit?limit=50&cursor=`],
  listTranslationUnits: ({ documentId, translationId }) => [
    `/documents/${documentId}/translation-units?limit=1&target_document_id=${translationId}&cursor=`,
    `/documents/${documentId}/translation-units?limit=1&locale=fr&status=missing`,
  ],
}

const listRoutes = routes.filter(
  ({ method, query, success }) =>
    method === 'GET' && (success.some(({ list }) => list) || Object.hasOwn(query?.properties ?? {}, 'limit')),
)

t.test('every list route is held against its plans, with each of its parameters', async (t) => {
  t.strictSame(Object.keys(callsOf).sort(), listRoutes.map(({ operationId }) => operationId).sort())
  for (const { operationId, query } of listRoutes) {
    const calls = callsOf[operationId]?.({} as Fixture) ?? []
    const missing = Object.keys(query?.properties ?? {}).filter(
      (name) => !calls.some((call) => new RegExp(`[?&]${name}=`).test(call)),
    )
    t.strictSame(missing, [], `the parameters of ${operationId}`)
  }
})

t.test('a page of a list in 20,000 documents is read without reading or sorting all of them', async (t) => {
  const { signUp, url } = await startTestService(t, withModel)
  const owner = await signUp({ workspace: 'One' })
  const fixture = await createFixture(owner)
  const other = await signUp({ workspace: 'Two' })
  await createFixture(other)
  const client = new pg.Client(url)
  await client.connect()
  t.teardown(() => client.end())
  await seed(client)
  // This user sees both workspaces.
  const email = 'both@example.test'
  await signUp({ email, workspace: 'One' })
  const both = await signUp({ email, workspace: 'Two' })
  for (const { operationId } of listRoutes) {
    await t.test(operationId, async (t) => {
      for (const call of callsOf[operationId]?.(fixture) ?? []) {
        const path = call.replace('$BASE', String(fixture.knowledgeBaseId))
        for (const reader of [owner, both]) {
          for (const { text, values } of await statementsOf(t, reader, path)) {
            const { rows } = await client.query(`EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${text}`, values)
            const plan: PlanNode = rows[0]['QUERY PLAN'][0].Plan
            const most = Math.max(...nodesOf(plan).map(rowsRead))
            if (most > mostRows) t.fail(`${path} reads ${most} rows`, { statement: text, plan: outline(plan) })
          }
        }
        t.pass(path)
      }
    })
  }
})

type Statement = { text: string; values: unknown[] }

// Calls a list, and a second page of it where there is a cursor. Returns the statements that read.
async function statementsOf(t: Test, client: Client, path: string): Promise<Statement[]> {
  const sent: Statement[] = []
  const { query } = pg.Client.prototype
  pg.Client.prototype.query = function (this: pg.Client, ...words: unknown[]) {
    const [config, values] = words as [string | Statement, unknown[] | undefined]
    const text = typeof config === 'string' ? config : config.text
    if (/^[\s(]*(WITH|SELECT)\b/i.test(text)) {
      sent.push({ text, values: (typeof config === 'string' ? values : config.values) ?? [] })
    }
    return Reflect.apply(query, this, words)
  } as typeof query
  try {
    const first = await client.get(path.replace(/[?&](cursor|after)=$/, ''))
    t.equal(first.status, 200, path, { answer: first.text.slice(0, 500) })
    const { page = first.body.data.page, data } = first.body
    const next = path.endsWith('after=') ? data.cursor : page?.next_cursor
    if (path.endsWith('=') && typeof next === 'string') {
      t.equal((await client.get(path + next)).status, 200, `the next page of ${path}`)
    }
  } finally {
    pg.Client.prototype.query = query
  }
  t.ok(sent.length > 0, 'its statements were seen')
  return sent
}

type PlanNode = {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Join Filter'?: number
  'Rows Removed by Index Recheck'?: number
  Plans?: PlanNode[]
}

// The rows that a node has read or returned.
function rowsRead(node: PlanNode): number {
  const removed =
    (node['Rows Removed by Filter'] ?? 0) +
    (node['Rows Removed by Join Filter'] ?? 0) +
    (node['Rows Removed by Index Recheck'] ?? 0)
  return (node['Actual Rows'] + removed) * node['Actual Loops']
}

function nodesOf(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]
}

function outline(node: PlanNode, depth = 0): string {
  const name = node['Index Name'] ?? node['Relation Name'] ?? ''
  const line = `${' '.repeat(depth)}${node['Node Type']} ${name} ${rowsRead(node)}`
  return [line, ...(node.Plans ?? []).map((part) => outline(part, depth + 1))].join('\n')
}

/*
 * Gives the first workspace 20,000 documents, a quarter of them in the folder of its fixture, and the second 4,000.
 * Adds 4,000 rows of everything else that is listed. Every document is a copy of the first document of the fixture.
 */
async function seed(client: pg.Client): Promise<void> {
  const many = `generate_series(1, CASE prefix WHEN 'doc_' THEN ${documents} ELSE 4000 END) AS n`
  const some = 'generate_series(1, 4000) AS n'
  for (const statement of [
    // The first document, folder and concept of each workspace, and the prefix of its new ids.
    `
      CREATE TABLE first AS SELECT DISTINCT ON (d.workspace_id) d.*,
        'doc_' || CASE WHEN w.name = 'One' THEN '' ELSE 'b' END AS prefix,
        (SELECT min(id) FROM concepts c WHERE c.workspace_id = d.workspace_id AND name NOT LIKE 'other%') AS concept_id
      FROM documents d JOIN workspaces w ON w.id = d.workspace_id
      WHERE d.folder_id IS NOT NULL AND d.variant_role IS DISTINCT FROM 'translation'
      ORDER BY d.workspace_id, d.id`,
    `INSERT INTO document_directory (id, workspace_id) SELECT prefix || n, workspace_id FROM first, ${many}`,
    `
      INSERT INTO document_sets (workspace_id, id, source_document_id, source_locale, fallback_locale)
      SELECT workspace_id, prefix || 'set' || n, prefix || n, 'de', 'de' FROM first, ${some}`,
    `
      INSERT INTO documents (workspace_id, id, knowledge_base_id, folder_id, title, document_type, heading_numbered,
        collapsed_block_ids, version, body_seq, character_count, node_count, updated_at, document_set_id, locale,
        variant_role, workflow_status)
      SELECT workspace_id, prefix || n, knowledge_base_id, CASE WHEN n % 4 = 0 THEN folder_id END, 'Title ' || n,
        'document', false, '{}', version, 1, 1, 1, now() - n * interval '1 second',
        CASE WHEN n <= 4000 THEN prefix || 'set' || n END, CASE WHEN n <= 4000 THEN 'de' END,
        CASE WHEN n <= 4000 THEN 'source' END, CASE WHEN n <= 4000 THEN 'draft' END
      FROM first, ${many}`,
    `
      INSERT INTO document_bodies (workspace_id, document_id, body_seq, version, body)
      SELECT workspace_id, prefix || n, 1, version, '{}' FROM first, ${some}`,
    `
      INSERT INTO document_bodies (workspace_id, document_id, body_seq, version, body)
      SELECT workspace_id, id, 10 + n, 'v' || n, '{}' FROM first, ${some}`,
    `
      INSERT INTO document_versions (workspace_id, document_id, seq, body_seq, size)
      SELECT workspace_id, id, 10 + n, 10 + n, 1 FROM first, ${some}`,
    `
      WITH ids AS (INSERT INTO knowledge_base_directory (workspace_id)
        SELECT workspace_id FROM first, ${some} RETURNING workspace_id, id)
      INSERT INTO knowledge_bases (workspace_id, id, name) SELECT workspace_id, id, 'Base' FROM ids`,
    `
      WITH ids AS (INSERT INTO folder_directory (workspace_id)
        SELECT workspace_id FROM first, generate_series(1, 1000) RETURNING workspace_id, id)
      INSERT INTO folders (workspace_id, id, knowledge_base_id, parent_id, name)
      SELECT workspace_id, i.id, knowledge_base_id, folder_id, 'Folder ' || i.id FROM ids i JOIN first USING (workspace_id)`,
    `
      INSERT INTO relations (workspace_id, id, origin, predicate, source_document_id, source_block_id, target_uri,
        target_document_id, anchor_text, created_at)
      SELECT workspace_id, 'rel_' || n, 'inline', 'refers_to', prefix || n, 'b', 'svc://doc/' || id, id, '',
        now() - n * interval '1 second' FROM first, ${some}`,
    `
      INSERT INTO relation_extractions (workspace_id, document_id, source_version, body_seq)
      SELECT workspace_id, prefix || n, version, 1 FROM first, ${some}`,
    `
      INSERT INTO concepts (workspace_id, id, knowledge_base_id, name, normalized_name, canonical_document_id)
      SELECT workspace_id, 'concept_' || n, knowledge_base_id, 'Concept ' || n, 'concept ' || n, prefix || n
      FROM first, ${some}`,
    `
      INSERT INTO concept_aliases (workspace_id, id, concept_id, alias, normalized_alias, origin)
      SELECT workspace_id, 'alias_' || n, 'concept_' || n, 'alias ' || n, 'alias ' || n, 'manual' FROM first, ${some}`,
    `
      INSERT INTO concept_relations (workspace_id, id, subject_concept_id, predicate, object_kind, object_id, origin)
      SELECT workspace_id, 'crel_a' || n, concept_id, 'related_to', 'concept', 'concept_' || n, 'manual'
      FROM first, ${some}
      UNION ALL
      SELECT workspace_id, 'crel_b' || n, 'concept_' || n, 'related_to', 'concept', concept_id, 'manual'
      FROM first, ${some}`,
    `
      INSERT INTO concept_candidates (workspace_id, id, document_id, block_id, name, normalized_name, excerpt,
        extractor, extractor_version, fingerprint, source_version, review_status, knowledge_base_id)
      SELECT workspace_id, 'cand_' || n || status, prefix || n, 'b', 'Title', 'title', '', 'title', '1', n || status,
        version, status, CASE WHEN status = 'accepted' THEN knowledge_base_id END
      FROM first, ${some}, (VALUES ('pending'), ('accepted')) AS s (status)`,
    `
      INSERT INTO translation_audit (workspace_id, id, document_set_id, action, source_document_id, is_agent, details,
        created_at)
      SELECT s.workspace_id, 'aud_' || n, s.id, 'unit.reviewed', s.source_document_id, false, '{}',
        now() - n * interval '1 second'
      FROM document_sets s JOIN documents d ON d.workspace_id = s.workspace_id AND d.document_set_id = s.id
        AND d.variant_role = 'translation', ${some}`,
    `
      INSERT INTO search_documents (workspace_id, document_id, source_version, body_seq, title, language, epoch, outline)
      SELECT workspace_id, prefix || n, version, 1, 'Title ' || n, 'en', 8, '{"ids": ["b"], "headings": []}'
      FROM first, ${many}`,
    `
      INSERT INTO search_blocks (workspace_id, document_id, ord, block_id, top_block_id, type, length, hash, body, tsv)
      SELECT workspace_id, prefix || n, 1, 'b', 'b', 'paragraph', 2, '', 'rare' || n || ' common',
        array_to_tsvector(ARRAY['rare' || n, 'common', '@w' || workspace_id, '@k' || knowledge_base_id])
      FROM first, ${many}`,
    `DROP TABLE first`,
    `ANALYZE`,
  ]) {
    await client.query(statement)
  }
}
