import pg from 'pg'
import Type from 'typebox'
import { onTheSpot } from '../../../shared/computations/ahead.ts'
import { addRelation } from '../../../shared/concepts/add-relation.ts'
import { extractFromDocument } from '../../../shared/concepts/candidates/extract-document.ts'
import { presentCandidates } from '../../../shared/concepts/candidates/present.ts'
import { type CandidateFilter, candidatePage } from '../../../shared/concepts/candidates/queries.ts'
import { acceptCandidate } from '../../../shared/concepts/candidates/review.ts'
import { findConcept } from '../../../shared/concepts/find.ts'
import { mergeConcept } from '../../../shared/concepts/merge.ts'
import { presentConcept, presentTraversed } from '../../../shared/concepts/present.ts'
import { type ConceptFilter, conceptPage } from '../../../shared/concepts/queries.ts'
import {
  relationsWithEvidenceIn,
  type Traversal,
  traversedRelations,
} from '../../../shared/concepts/relation-queries.ts'
import { type Database, inTransaction, sql, type Transaction } from '../../../shared/database/database.ts'
import { row } from '../../../shared/database/row.ts'
import { newId } from '../../../shared/schema/ids.ts'
import { rowsReadBy, statementsOf } from '../../support/plans.ts'
import { startTestService } from '../../support/service.ts'
import { type Test, t } from '../../support/tap.ts'

const unguarded = { missing: [], require() {}, check() {} }
const [source, target] = [newId('concept'), newId('concept')]

t.test('whatever is done with a concept of ten thousand relations, no table is read from end to end', async (t) => {
  const { config, database, signUp } = await startTestService(t)
  const ada = await signUp()
  const base = (await ada.post('/knowledge-bases', { name: 'Docs' })).body.data.id
  const { data: document } = (await ada.post('/documents', { title: 'Model', knowledge_base_id: base })).body
  const block = (await ada.get(`/documents/${document.id}/blocks`)).body.data[0].block_id
  await seed(database, { workspaceId: ada.workspace_id, base, block })
  const caller = {
    tokenId: ada.token_id,
    credentialId: ada.token_id,
    userId: ada.user_id,
    email: '',
    name: '',
    scopes: [],
    expiresAt: null,
    clientName: null,
    memberships: [{ workspace_id: ada.workspace_id, name: '', role: 'owner' as const }],
  }
  const place = { workspaceId: ada.workspace_id, knowledgeBaseId: base, after: null, limit: 100 }
  const readsIndexes = (name: string, work: (tx: Transaction) => Promise<unknown>) =>
    t.test(name, (t) => usesIndexes(t, database, work))

  const lists: Partial<ConceptFilter>[] = [
    {},
    { status: 'all' },
    { documentId: 'doc_7' },
    { nameContains: 'concept 77' },
    { after: { nameStart: 'concept 5', id: 'concept_5' } },
  ]
  for (const filter of lists) {
    await readsIndexes(`concepts ${JSON.stringify(filter)}`, (tx) =>
      conceptPage(tx, { ...place, status: 'active', ...filter }),
    )
  }
  await readsIndexes('a concept with all its relations', async (tx) => {
    const concept = await findConcept(tx, { caller, id: source })
    const { relations } = await presentConcept(tx, concept)
    if (relations.length !== 5000) throw new Error(`${relations.length} relations`)
  })
  for (const after of [null, 'crel_3']) {
    const traversal: Traversal = {
      at: 5,
      directions: ['outgoing', 'incoming'],
      predicate: undefined,
      after,
      limit: 1000,
    }
    await readsIndexes(`traverse after ${after}`, async (tx) => {
      const concept = await findConcept(tx, { caller, id: source })
      const relations = await traversedRelations(tx, concept, traversal)
      await presentTraversed(tx, { concept, relations, at: 5 })
    })
  }
  await t.test('the evidence of one concept in one document is read, and nothing beside it', async (t) => {
    const evidence = { workspaceId: ada.workspace_id, documentId: 'doc_9', conceptIds: [source], limit: 6 }
    const [statement, ...others] = await statementsOf(async () => {
      t.equal((await relationsWithEvidenceIn(database, evidence)).length, 5)
    })
    t.equal(others.length, 0)
    const client = new pg.Client({ connectionString: config.DATABASE_URL })
    await client.connect()
    t.teardown(() => client.end())
    const { most, plan } = await rowsReadBy(client, statement ?? { text: '', values: [] })
    t.ok(most <= 6, plan)
  })
  await readsIndexes('a relation in the hierarchy', (tx) => {
    const relation = { predicate: 'broader_than' as const, object: { kind: 'concept' as const, id: source } }
    return addRelation(tx, { id: target, caller, relation, guard: unguarded })
  })
  await readsIndexes('merge', (tx) => {
    const guards = { source: unguarded, target: unguarded }
    return mergeConcept(tx, { id: source, targetId: target, reason: null, caller, guards })
  })

  const candidates: Partial<CandidateFilter>[] = [
    {},
    { status: 'accepted' },
    { status: 'all', after: { documentId: 'doc_5', id: 'cand_5' } },
    { documentId: 'doc_7' },
  ]
  for (const filter of candidates) {
    await readsIndexes(`candidates ${JSON.stringify(filter)}`, async (tx) => {
      await presentCandidates(tx, await candidatePage(tx, { ...place, status: 'pending', ...filter }))
    })
  }
  await readsIndexes('extract and accept', async (tx) => {
    const input = { documentId: document.id, caller }
    const { extraction } = await extractFromDocument({ tx, ahead: onTheSpot }, input)
    const [candidate] = extraction.candidates
    const request = { id: candidate?.id ?? '', caller, reason: null, guard: unguarded, conceptId: undefined }
    return acceptCandidate(tx, request)
  })
})

/*
 * Adds 20,000 copies of the first document, each with a pending and a reviewed candidate, and 20,000 concepts. Two more
 * concepts are each the object of 5,000 others. Each of the two has 2,500 concepts and 2,500 blocks of 500 documents as
 * objects. Half of these relations are the same for both. 5,000 concepts have evidence in one document.
 */
async function seed(database: Database, given: { workspaceId: string; base: number; block: string }): Promise<void> {
  const { workspaceId, base, block } = given
  const many = sql.fragment`generate_series(1, 20000) AS n`
  const relation = sql.fragment`
    INSERT INTO concept_relations (workspace_id, id, subject_concept_id, predicate, object_kind, object_id,
      object_block_id, origin, evidence_document_id, evidence_block_id, evidence_version)`
  for (const statement of [
    sql.unsafe`INSERT INTO document_directory (id, workspace_id) SELECT 'doc_' || n, ${workspaceId} FROM ${many}`,
    sql.unsafe`
      INSERT INTO documents (workspace_id, id, knowledge_base_id, title, document_type, heading_numbered,
        collapsed_block_ids, version, body_seq, character_count, node_count)
      SELECT d.workspace_id, 'doc_' || n, ${base}::int8, 'Title ' || n, 'document', false, '{}', d.version, 1, 1, 1
      FROM documents d, ${many}`,
    sql.unsafe`
      INSERT INTO document_bodies (workspace_id, document_id, body_seq, version, body)
      SELECT b.workspace_id, 'doc_' || n, 1, b.version, b.body FROM document_bodies b, ${many}`,
    sql.unsafe`
      INSERT INTO concepts (workspace_id, id, knowledge_base_id, name, normalized_name, canonical_document_id)
      SELECT ${workspaceId}, id, ${base}::int8, name, name, 'doc_' || n FROM (
        SELECT n, 'concept_' || n AS id, 'concept ' || n AS name FROM ${many}
        UNION ALL VALUES (0, ${source}, 'source'), (0, ${target}, 'target')) AS c`,
    sql.unsafe`
      INSERT INTO concept_aliases (workspace_id, id, concept_id, alias, normalized_alias, origin)
      SELECT ${workspaceId}, 'alias_' || n, 'concept_' || n, 'alias ' || n, 'alias ' || n, 'manual' FROM ${many}`,
    sql.unsafe`
      INSERT INTO concept_labels (workspace_id, concept_id, locale, name, origin)
      SELECT ${workspaceId}, 'concept_' || n, 'en', 'label', 'manual' FROM ${many}`,
    sql.unsafe`${relation}
      SELECT ${workspaceId}, 'crel_a' || n, 'concept_' || n, 'related_to', 'concept', 'concept_' || (n + 1), NULL,
        'manual', NULL, NULL, NULL FROM ${many}`,
    ...[source, target].flatMap((id, index) => [
      sql.unsafe`${relation}
        SELECT ${workspaceId}, 'crel_b' || n || ${id}, ${id}, 'broader_than', 'concept', 'concept_' || n, NULL,
          'manual', NULL, NULL, NULL FROM generate_series(${index * 1250 + 1}::int, ${index * 1250 + 2500}::int) AS n`,
      sql.unsafe`${relation}
        SELECT ${workspaceId}, 'crel_c' || n || ${id}, ${id}, 'evidenced_by', 'block', 'doc_' || n % 500 + 1,
          ${block} || n, 'manual', 'doc_' || n % 500 + 1, ${block} || n, 'sha256:old'
        FROM generate_series(${index * 1250 + 1}::int, ${index * 1250 + 2500}::int) AS n`,
      sql.unsafe`${relation}
        SELECT ${workspaceId}, 'crel_d' || n || ${id}, 'concept_' || n, 'related_to', 'concept', ${id}, NULL,
          'manual', NULL, NULL, NULL
        FROM generate_series(${index * 2500 + 1}::int, ${index * 2500 + 5000}::int) AS n`,
    ]),
    sql.unsafe`${relation}
      SELECT ${workspaceId}, 'crel_e' || n, 'concept_' || n, 'evidenced_by', 'block', 'doc_9', ${block} || n, 'manual',
        'doc_9', ${block} || n, 'sha256:old' FROM generate_series(1, 5000) AS n`,
    sql.unsafe`
      INSERT INTO concept_candidates (workspace_id, id, document_id, block_id, name, normalized_name, excerpt,
        extractor, extractor_version, fingerprint, source_version, review_status, knowledge_base_id)
      SELECT ${workspaceId}, 'cand_' || n || status, 'doc_' || n, ${block}, 'Title ' || n, 'title ' || n, '', 'title',
        '1', n || status, 'sha256:old', status, CASE WHEN status = 'accepted' THEN ${base}::int8 END
      FROM ${many}, (VALUES ('pending'), ('accepted')) AS s (status)`,
    sql.unsafe`
      INSERT INTO concept_extractions (workspace_id, document_id, body_seq)
      SELECT ${workspaceId}, 'doc_' || n, 1 FROM ${many}`,
    sql.unsafe`ANALYZE`,
  ]) {
    await database.query(statement)
  }
}

const Plan = row(Type.Object({ 'QUERY PLAN': Type.Unknown() }))
type PlanNode = { 'Node Type': string; 'Relation Name'?: string; Plans?: PlanNode[] }
type Token = Parameters<Transaction['query']>[0]
const methods = ['any', 'anyFirst', 'maybeOne', 'maybeOneFirst', 'one', 'oneFirst', 'query'] as const

// Runs the work, and inspects the plan of every statement before the statement runs.
async function usesIndexes(t: Test, database: Database, work: (tx: Transaction) => Promise<unknown>): Promise<void> {
  await inTransaction(database, async (tx) => {
    const explain = async (token: Token) => {
      const { name: _prepared, ...rest } = token as Token & { name?: string }
      if (!/^\s*(WITH|SELECT|INSERT|UPDATE|DELETE)/.test(token.sql)) return
      const statement = { ...rest, sql: `EXPLAIN (FORMAT JSON) ${token.sql}`, parser: Plan }
      const answer = (await tx.one(statement as unknown as Token)) as { 'QUERY PLAN': { Plan: PlanNode }[] }
      const scanned = answer['QUERY PLAN'].flatMap(({ Plan: plan }) => nodes(plan)).filter(isScan)
      const tables = scanned.map((node) => node['Relation Name'])
      t.strictSame(tables, [], tables.length > 0 ? token.sql : 'reads by index')
    }
    const explaining = Object.fromEntries(
      methods.map((method) => [
        method,
        async (token: Token) => {
          await explain(token)
          return (tx[method] as (token: Token) => Promise<unknown>)(token)
        },
      ]),
    )
    const send = (token: Token) => void explaining['query']?.(token)
    await work(Object.assign(Object.create(tx), explaining, { send }))
  })
}

const largeTables =
  /^(concepts|concept_(aliases|labels|relations|candidates|extractions)|documents|document_(bodies|directory))$/

function isScan(node: PlanNode): boolean {
  return node['Node Type'] === 'Seq Scan' && largeTables.test(node['Relation Name'] ?? '')
}

function nodes(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodes)]
}
