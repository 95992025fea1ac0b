import Type, { type Static } from 'typebox'
import { type Queryable, sql, type Transaction } from '../database/database.ts'
import { row } from '../database/row.ts'
import { Nullable } from '../schema/identifiers.ts'
import { newId } from '../schema/ids.ts'
import type { ConceptRow } from './queries.ts'
import { ConceptPredicate, ObjectKind, RelationOrigin } from './schema.ts'
import type { ResolvedEvidence } from './sources.ts'

const text = Type.String()
const RelationShape = Type.Object({
  id: text,
  subject_concept_id: text,
  predicate: ConceptPredicate,
  object_kind: ObjectKind,
  object_id: text,
  object_block_id: Nullable(text),
  valid_from: Nullable(Type.Number()),
  valid_to: Nullable(Type.Number()),
  origin: RelationOrigin,
  evidence_document_id: Nullable(text),
  evidence_block_id: Nullable(text),
  evidence_version: Nullable(text),
  evidence_excerpt: Nullable(text),
})

/** A row of `concept_relations`. */
export type ConceptRelationRow = Static<typeof RelationShape>

type ConceptKey = Pick<ConceptRow, 'workspace_id' | 'id'>

const columns = sql.fragment`
  r.id, r.subject_concept_id, r.predicate, r.object_kind, r.object_id, r.object_block_id, r.valid_from, r.valid_to,
  r.origin, r.evidence_document_id, r.evidence_block_id, r.evidence_version, r.evidence_excerpt`

/** Every outgoing relation of a concept, in the order in which they were made. */
export function outgoingRelations(db: Queryable, concept: ConceptKey): Promise<readonly ConceptRelationRow[]> {
  return db.any(sql.type(row(RelationShape))`
    SELECT ${columns} FROM concept_relations r
    WHERE r.workspace_id = ${concept.workspace_id} AND r.subject_concept_id = ${concept.id}
    ORDER BY r.id`)
}

const Direction = Type.Enum(['outgoing', 'incoming'])
const TraversedShape = Type.Object({ ...RelationShape.properties, direction: Direction })

/** A relation with the direction in which it was met. */
export type TraversedRow = Static<typeof TraversedShape>

/** What `GET /concepts/{id}/traverse` asks for; `at` is in Unix milliseconds, `after` the id of the last relation seen. */
export type Traversal = {
  at: number
  directions: readonly Static<typeof Direction>[]
  predicate: ConceptPredicate | undefined
  after: string | null
  limit: number
}

/** Relations that touch a concept and are valid at an instant, with one more than the limit when there are more. */
export function traversedRelations(
  db: Queryable,
  concept: ConceptKey,
  traversal: Traversal,
): Promise<readonly TraversedRow[]> {
  const branches = traversal.directions.map(
    (direction) => sql.fragment`
    (SELECT ${columns}, ${direction} AS direction FROM concept_relations r
     WHERE r.workspace_id = ${concept.workspace_id} AND ${touching[direction](concept.id)}
       AND ${isWanted(traversal)}
     ORDER BY r.id LIMIT ${traversal.limit + 1})`,
  )
  return db.any(sql.type(row(TraversedShape))`
    SELECT * FROM (${sql.join(branches, sql.fragment` UNION ALL `)}) AS met
    ORDER BY id LIMIT ${traversal.limit + 1}`)
}

const touching = {
  outgoing: (id: string) => sql.fragment`r.subject_concept_id = ${id}`,
  incoming: (id: string) => sql.fragment`r.object_id = ${id} AND r.object_kind = 'concept'`,
}

function isWanted({ at, predicate, after }: Traversal) {
  const conditions = [
    sql.fragment`coalesce(r.valid_from <= ${at}::int8, true) AND coalesce(r.valid_to > ${at}::int8, true)`,
    ...(predicate === undefined ? [] : [sql.fragment`r.predicate = ${predicate}`]),
    ...(after === null ? [] : [sql.fragment`r.id > ${after}`]),
  ]
  return sql.join(conditions, sql.fragment` AND `)
}

/** What a relation says, without whom it is about; null is without bound. */
export type ConceptStatement = Pick<
  ConceptRelationRow,
  'predicate' | 'object_kind' | 'object_id' | 'object_block_id' | 'valid_from' | 'valid_to'
>

/** A relation of the concept that says the same for a time that overlaps, or null. */
export function overlappingRelation(
  db: Queryable,
  concept: ConceptKey,
  statement: ConceptStatement,
): Promise<string | null> {
  return db.maybeOneFirst(sql.type(row(Type.Object({ id: text })))`
    SELECT r.id FROM concept_relations r
    WHERE r.workspace_id = ${concept.workspace_id} AND r.subject_concept_id = ${concept.id}
      AND r.object_id = ${statement.object_id} AND r.predicate = ${statement.predicate}
      AND r.object_kind = ${statement.object_kind}
      AND r.object_block_id IS NOT DISTINCT FROM ${statement.object_block_id}
      AND int8range(r.valid_from, r.valid_to) && int8range(${statement.valid_from}::int8, ${statement.valid_to}::int8)
    ORDER BY r.id LIMIT 1`)
}

/** Inserts relations of a locked concept. */
export async function insertRelations(
  tx: Transaction,
  concept: ConceptKey,
  relations: readonly Omit<ConceptRelationRow, 'subject_concept_id'>[],
): Promise<void> {
  await tx.query(sql.unsafe`
    INSERT INTO concept_relations
      (workspace_id, id, subject_concept_id, predicate, object_kind, object_id, object_block_id, valid_from, valid_to,
       origin, evidence_document_id, evidence_block_id, evidence_version, evidence_excerpt)
    SELECT ${concept.workspace_id}, n.id, ${concept.id}, n.predicate, n.object_kind, n.object_id, n.object_block_id,
      n.valid_from, n.valid_to, n.origin, n.evidence_document_id, n.evidence_block_id, n.evidence_version,
      n.evidence_excerpt
    FROM jsonb_to_recordset(${JSON.stringify(relations)}::jsonb) AS n
      (id text, predicate text, object_kind text, object_id text, object_block_id text, valid_from int8, valid_to int8,
       origin text, evidence_document_id text, evidence_block_id text, evidence_version text, evidence_excerpt text)`)
}

/** Evidence to be recorded, with the time for which it counts. */
export type RecordedEvidence = ResolvedEvidence & { valid_from: number | null; valid_to: number | null }

/**
 * Records evidence for a locked concept: one `evidenced_by` relation for each document and block. Where there is one
 * already it takes over version and excerpt and keeps the rest. Returns the ids of the relations.
 */
export async function recordEvidence(
  tx: Transaction,
  concept: ConceptKey,
  input: { evidence: readonly RecordedEvidence[]; origin: RelationOrigin },
): Promise<string[]> {
  const bySource = new Map(
    input.evidence.map((evidence) => [sourceKey(evidence.document_id, evidence.block_id), evidence]),
  )
  const there = await evidenceRelations(tx, concept, [...bySource.values()])
  const known = new Map(there.map((found) => [sourceKey(found.object_id, found.object_block_id), found.id]))
  const relations = [...bySource].map(([key, evidence]) => ({
    ...evidenceRelation(evidence, input.origin),
    id: known.get(key) ?? newId('crel'),
    isKnown: known.has(key),
  }))
  await refreshEvidence(
    tx,
    concept,
    relations.filter(({ isKnown }) => isKnown),
  )
  await insertRelations(
    tx,
    concept,
    relations.filter(({ isKnown }) => !isKnown),
  )
  return relations.map(({ id }) => id)
}

function sourceKey(documentId: string, blockId: string | null): string {
  return JSON.stringify([documentId, blockId])
}

function evidenceRelation(evidence: RecordedEvidence, origin: RelationOrigin) {
  const { document_id, block_id, version, excerpt, valid_from, valid_to } = evidence
  return {
    predicate: 'evidenced_by' as const,
    object_kind: block_id === null ? ('document' as const) : ('block' as const),
    object_id: document_id,
    object_block_id: block_id,
    valid_from,
    valid_to,
    origin,
    evidence_document_id: document_id,
    evidence_block_id: block_id,
    evidence_version: version,
    evidence_excerpt: excerpt,
  }
}

const EvidenceRow = row(Type.Pick(RelationShape, ['id', 'object_id', 'object_block_id']))

// The oldest for each source, should there be several for different times.
function evidenceRelations(tx: Transaction, concept: ConceptKey, evidence: readonly ResolvedEvidence[]) {
  const documentIds = evidence.map(({ document_id }) => document_id)
  return tx.any(sql.type(EvidenceRow)`
    SELECT DISTINCT ON (r.object_id, r.object_block_id) r.id, r.object_id, r.object_block_id FROM concept_relations r
    WHERE r.workspace_id = ${concept.workspace_id} AND r.subject_concept_id = ${concept.id}
      AND r.object_id = ANY(${sql.array(documentIds, 'text')}) AND r.predicate = 'evidenced_by'
    ORDER BY r.object_id, r.object_block_id, r.id`)
}

async function refreshEvidence(
  tx: Transaction,
  concept: ConceptKey,
  relations: readonly Pick<ConceptRelationRow, 'id' | 'evidence_version' | 'evidence_excerpt'>[],
): Promise<void> {
  if (relations.length === 0) return
  await tx.query(sql.unsafe`
    UPDATE concept_relations r SET evidence_document_id = r.object_id, evidence_block_id = r.object_block_id,
      evidence_version = n.evidence_version, evidence_excerpt = n.evidence_excerpt
    FROM jsonb_to_recordset(${JSON.stringify(relations)}::jsonb) AS n
      (id text, evidence_version text, evidence_excerpt text)
    WHERE r.workspace_id = ${concept.workspace_id} AND r.id = n.id`)
}
