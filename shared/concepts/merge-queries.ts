import { type Queryable, sql, type Transaction } from '../database/database.ts'
import { row } from '../database/row.ts'
import type { ConceptRow } from './queries.ts'
import { ConceptMerge } from './schema.ts'

/**
 * Hands the relations of a merged concept over to the target: those between the two fall away, and those that the
 * target has already, for a time that overlaps. Each step is one statement, however many relations there are.
 */
export async function moveRelations(tx: Transaction, source: ConceptRow, target: ConceptRow): Promise<void> {
  const { workspace_id } = source
  await tx.query(sql.unsafe`
    DELETE FROM concept_relations
    WHERE workspace_id = ${workspace_id} AND object_kind = 'concept'
      AND (subject_concept_id, object_id) IN ((${source.id}, ${target.id}), (${target.id}, ${source.id}))`)
  await tx.query(sql.unsafe`
    DELETE FROM concept_relations r USING concept_relations kept
    WHERE r.workspace_id = ${workspace_id} AND r.subject_concept_id = ${source.id}
      AND kept.workspace_id = ${workspace_id} AND kept.subject_concept_id = ${target.id}
      AND kept.object_id = r.object_id AND kept.object_kind = r.object_kind
      AND kept.object_block_id IS NOT DISTINCT FROM r.object_block_id AND ${saysTheSame}`)
  await tx.query(sql.unsafe`
    DELETE FROM concept_relations r USING concept_relations kept
    WHERE r.workspace_id = ${workspace_id} AND r.object_id = ${source.id} AND r.object_kind = 'concept'
      AND kept.workspace_id = ${workspace_id} AND kept.object_id = ${target.id} AND kept.object_kind = 'concept'
      AND kept.subject_concept_id = r.subject_concept_id AND ${saysTheSame}`)
  await tx.query(sql.unsafe`
    UPDATE concept_relations SET subject_concept_id = ${target.id}
    WHERE workspace_id = ${workspace_id} AND subject_concept_id = ${source.id}`)
  await tx.query(sql.unsafe`
    UPDATE concept_relations SET object_id = ${target.id}
    WHERE workspace_id = ${workspace_id} AND object_id = ${source.id} AND object_kind = 'concept'`)
}

const saysTheSame = sql.fragment`
  kept.predicate = r.predicate AND int8range(kept.valid_from, kept.valid_to) && int8range(r.valid_from, r.valid_to)`

/** Marks a locked concept as merged; what was merged into it before leads to the target from now on. */
export async function markMerged(
  tx: Transaction,
  source: ConceptRow,
  merge: { targetId: string; mergedBy: string; reason: string | null },
): Promise<void> {
  await tx.query(sql.unsafe`
    UPDATE concepts SET merged_into_concept_id = ${merge.targetId}
    WHERE workspace_id = ${source.workspace_id} AND merged_into_concept_id = ${source.id}`)
  await tx.query(sql.unsafe`
    UPDATE concepts SET status = 'merged', merged_into_concept_id = ${merge.targetId}, merged_at = clock_timestamp(),
      merged_by = ${merge.mergedBy}, merge_reason = ${merge.reason}
    WHERE workspace_id = ${source.workspace_id} AND id = ${source.id}`)
}

const MergeRow = row(ConceptMerge)

/** What was merged into a concept, directly or by way of another, oldest first. */
export function mergeHistory(
  db: Queryable,
  concept: Pick<ConceptRow, 'workspace_id' | 'id'>,
): Promise<readonly ConceptMerge[]> {
  return db.any(sql.type(MergeRow)`
    SELECT id AS concept_id, name, merged_at, merged_by, merge_reason AS reason FROM concepts
    WHERE workspace_id = ${concept.workspace_id} AND merged_into_concept_id = ${concept.id}
    ORDER BY merged_at, id`)
}
