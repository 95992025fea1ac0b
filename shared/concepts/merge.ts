import type { Caller } from '../auth/caller.ts'
import type { Transaction } from '../database/database.ts'
import { Refusal } from '../errors/errors.ts'
import { requirePreconditions, type VersionGuard } from '../requests/version-guard.ts'
import { findConceptRow, missingConcept, requireActive, requireConceptWriter, requireUnmerged } from './find.ts'
import { lockHierarchy, mergeClosesCycle } from './hierarchy.ts'
import { markMerged, moveRelations } from './merge-queries.ts'
import { copyNamings } from './naming-queries.ts'
import { conceptVersion } from './present.ts'
import { type ConceptRow, lockConcepts, raiseVersion } from './queries.ts'

/** A merge with a guard for each side. */
export type MergeRequest = {
  id: string
  targetId: string
  reason: string | null
  caller: Caller
  guards: { source: VersionGuard; target: VersionGuard }
}

/**
 * Merges a concept into another of the same knowledge base, which is returned: names, evidence and relations go over,
 * the id goes on resolving. 409 `concept_merged`, `concept_self_merge`, `concept_not_active`, `concept_relation_cycle`
 * or `version_conflict`, in this order; 422 `cross_knowledge_base`.
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
