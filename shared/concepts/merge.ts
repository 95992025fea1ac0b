import type { Caller } from '../auth/caller.ts'
import { sql, type Transaction } from '../database/database.ts'
import { Refusal } from '../errors/errors.ts'
import { requirePreconditions, type VersionGuard } from '../requests/version-guard.ts'
import { findConceptRow, missingConcept, requireActive, requireConceptWriter, requireUnmerged } from './find.ts'
import { copyNamings } from './naming-queries.ts'
import { conceptVersion } from './present.ts'
import { type ConceptRow, lockConcepts, raiseVersion } from './queries.ts'
import { lockHierarchy, mergeClosesCycle } from './relation-queries.ts'

/** A request to merge the concept `id` into the concept `targetId`, with a version guard for each. */
export type MergeRequest = {
  id: string
  targetId: string
  reason: string | null
  caller: Caller
  guards: { source: VersionGuard; target: VersionGuard }
}

/**
 * Merges a concept into another concept of the same knowledge base and returns the target. The target takes over names,
 * evidence and relations, and the id of the source leads to the target from then on. Refuses with 409 `concept_merged`,
 * `concept_self_merge`, `concept_not_active`, `concept_relation_cycle` or `version_conflict`, in this order. Refuses
 * with 422 `cross_knowledge_base`.
 */
export async function mergeConcept(tx: Transaction, merge: MergeRequest): Promise<ConceptRow> {
  const { caller, guards } = merge
  const found = await findConceptRow(tx, { caller, id: merge.id })
  const into = await findConceptRow(tx, { caller, id: merge.targetId, field: 'target_concept_id' })
  requireConceptWriter(caller, found)
  requirePreconditions([...guards.source.missing, ...guards.target.missing])
  if (found.knowledge_base_id !== into.knowledge_base_id) {
    requireUnmerged(found)
    guards.source.check(conceptVersion(found))
    throw new Refusal('cross_knowledge_base')
  }
  const { source, target } = await lockBoth(tx, found, into)
  requireUnmerged(source)
  if (source.id === target.id) throw new Refusal('concept_self_merge')
  requireActive(source)
  requireActive(target)
  await lockHierarchy(tx, source.knowledge_base_id)
  if (await mergeClosesCycle(tx, source, target)) throw new Refusal('concept_relation_cycle')
  guards.source.check(conceptVersion(source))
  guards.target.check(conceptVersion(target))
  await copyNamings(tx, source, target)
  await moveRelations(tx, source, target)
  await markMerged(tx, source, { targetId: target.id, mergedBy: caller.userId, reason: merge.reason })
  await raiseVersion(tx, source)
  await raiseVersion(tx, target)
  return target
}

async function lockBoth(tx: Transaction, source: ConceptRow, target: ConceptRow) {
  const locked = await lockConcepts(tx, { workspaceId: source.workspace_id, ids: [source.id, target.id] })
  const byId = new Map(locked.map((concept) => [concept.id, concept]))
  const [lockedSource, lockedTarget] = [byId.get(source.id), byId.get(target.id)]
  if (lockedSource === undefined) throw missingConcept(source.id)
  if (lockedTarget === undefined) throw missingConcept(target.id, 'target_concept_id')
  return { source: lockedSource, target: lockedTarget }
}

/**
 * Moves the relations of a merged concept to the target. Relations between the two concepts are deleted. A relation is
 * also deleted when the target has an equal relation whose validity overlaps. Each step is one statement, however many
 * relations there are.
 */
async function moveRelations(tx: Transaction, source: ConceptRow, target: ConceptRow): Promise<void> {
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

/**
 * Marks a concept, whose row the caller has locked, as merged. Concepts that were merged into this concept before lead
 * to the target from now on.
 */
async function markMerged(
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
