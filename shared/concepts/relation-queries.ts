import Type, { type Static } from 'typebox'
import { type Queryable, sql, type Transaction } from '../database/database.ts'
import { row } from '../database/row.ts'
import { Nullable } from '../schema/identifiers.ts'
import type { ConceptKey, ConceptRow } from './queries.ts'
import { ConceptPredicate, ObjectKind, RelationOrigin } from './schema.ts'

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

const columns = sql.fragment`
  r.id, r.subject_concept_id, r.predicate, r.object_kind, r.object_id, r.object_block_id, r.valid_from, r.valid_to,
  r.origin, r.evidence_document_id, r.evidence_block_id, r.evidence_version, r.evidence_excerpt`

/** Returns every outgoing relation of a concept, in the order of creation. */
export function outgoingRelations(db: Queryable, concept: ConceptKey): Promise<readonly ConceptRelationRow[]> {
  return db.any(sql.type(row(RelationShape))`
    SELECT ${columns} FROM concept_relations r
    WHERE r.workspace_id = ${concept.workspace_id} AND r.subject_concept_id = ${concept.id}
    ORDER BY r.id`)
}

const Direction = Type.Enum(['outgoing', 'incoming'])
const TraversedShape = Type.Object({ ...RelationShape.properties, direction: Direction })

/** A relation with its direction as seen from the traversed concept. */
export type TraversedRow = Static<typeof TraversedShape>

/**
 * The filters of `GET /concepts/{id}/traverse`; `at` is in Unix milliseconds, `after` the id of the last relation of
 * the previous page.
 */
export type Traversal = {
  at: number
  directions: readonly Static<typeof Direction>[]
  predicate: ConceptPredicate | undefined
  after: string | null
  limit: number
}

/**
 * Returns the relations that touch a concept and are valid at an instant, with one more than the limit when there are
 * more.
 */
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

/**
 * Returns the relations of concepts that have evidence in a document, at most `limit` of each concept, in the order of
 * creation.
 */
export function relationsWithEvidenceIn(
  db: Queryable,
  input: { workspaceId: string; documentId: string; conceptIds: readonly string[]; limit: number },
): Promise<readonly TraversedRow[]> {
  return db.any(sql.type(row(TraversedShape))`
    SELECT met.* FROM unnest(${sql.array([...input.conceptIds], 'text')}) AS c (id)
    CROSS JOIN LATERAL (
      SELECT ${columns}, 'outgoing' AS direction FROM concept_relations r
      WHERE r.workspace_id = ${input.workspaceId} AND r.subject_concept_id = c.id
        AND r.evidence_document_id = ${input.documentId}
      ORDER BY r.id LIMIT ${input.limit}
    ) AS met
    ORDER BY met.id`)
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

/**
 * The content of a relation without its subject. Null in `valid_from` or `valid_to` means that the validity has no
 * bound on that side.
 */
export type ConceptStatement = Pick<
  ConceptRelationRow,
  'predicate' | 'object_kind' | 'object_id' | 'object_block_id' | 'valid_from' | 'valid_to'
>

/**
 * Returns the id of a relation of the concept with the predicate and object of `statement` and with an overlapping
 * validity, or null.
 */
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

/** Inserts relations of a concept. The caller has locked the row of the concept. */
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

/**
 * Makes everybody else who adds `broader_than` relations in a knowledge base wait until the transaction ends. Otherwise
 * two transactions could each add one half of a cycle, and neither transaction would see the cycle. Take this lock
 * after the rows of the concepts, and search for a cycle after it.
 */
export async function lockHierarchy(tx: Transaction, knowledgeBaseId: number): Promise<void> {
  const key = JSON.stringify(['concept hierarchy', knowledgeBaseId])
  await tx.query(sql.unsafe`SELECT pg_advisory_xact_lock(hashtextextended(${key}, 0))`)
}

const ClosesRow = row(Type.Object({ closes: Type.Boolean() }))

/** Returns whether `broader_than` from one concept to another would close a cycle. Validity is ignored. */
export function edgeClosesCycle(
  tx: Transaction,
  edge: { workspaceId: string; from: string; to: string },
): Promise<boolean> {
  return tx.oneFirst(sql.type(ClosesRow)`
    WITH RECURSIVE ${reachedFrom(edge.workspaceId, sql.fragment`SELECT ${edge.to}::text`)}
    SELECT EXISTS (SELECT FROM reached WHERE id = ${edge.from}) AS closes`)
}

/**
 * Returns whether a merge of two concepts would close a cycle. A cycle is a path from one of the two through a third
 * concept back to either of the two. A direct edge between the two does not count, since the merge deletes it.
 */
export function mergeClosesCycle(tx: Transaction, source: ConceptRow, target: ConceptRow): Promise<boolean> {
  const both = sql.array([source.id, target.id], 'text')
  const thirds = sql.fragment`
    SELECT object_id FROM concept_relations
    WHERE workspace_id = ${source.workspace_id} AND subject_concept_id = ANY(${both}) AND predicate = 'broader_than'
      AND object_id <> ALL(${both})`
  return tx.oneFirst(sql.type(ClosesRow)`
    WITH RECURSIVE ${reachedFrom(source.workspace_id, thirds)}
    SELECT EXISTS (SELECT FROM reached WHERE id = ANY(${both})) AS closes`)
}

// The planner estimates far too many rows for a recursion. OFFSET makes the planner look up the narrower concepts of
// each row by index.
function reachedFrom(workspaceId: string, start: ReturnType<typeof sql.fragment>) {
  return sql.fragment`reached (id) AS (
    ${start}
    UNION
    SELECT narrower.object_id FROM reached
    CROSS JOIN LATERAL (
      SELECT r.object_id FROM concept_relations r
      WHERE r.workspace_id = ${workspaceId} AND r.subject_concept_id = reached.id AND r.predicate = 'broader_than'
      OFFSET 0
    ) AS narrower
  )`
}
