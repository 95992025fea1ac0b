import { type Caller, requireWriter, visibleWorkspaces } from '../auth/caller.ts'
import type { Queryable, Transaction } from '../database/database.ts'
import { Refusal } from '../errors/errors.ts'
import { type KnowledgeBaseKey, lockStructure, workspaceOfKnowledgeBase } from '../knowledge-bases/queries.ts'
import type { NamedId } from '../schema/identifiers.ts'
import {
  type ConceptKey,
  type ConceptRow,
  lockConcepts,
  type NamedConcept,
  resolvedConcept,
  visibleConcept,
} from './queries.ts'

/**
 * A caller and the id of the concept that a call names. `field` is the member of the request body that names the
 * concept; absent when the path names the concept.
 */
type ConceptRequest = { caller: Caller; id: string; field?: string }

/**
 * Returns a visible concept with its names; the id of a merged concept leads to the concept that it was merged into.
 * Refuses with 404 `concept_not_found`.
 */
export async function findConcept(db: Queryable, { caller, id, field }: ConceptRequest): Promise<NamedConcept> {
  const found = await resolvedConcept(db, { id, workspaceIds: visibleWorkspaces(caller) })
  if (found === null) throw missingConcept(id, field)
  return found
}

/** Returns a visible concept as stored, merged or not. Refuses with 404 `concept_not_found`. */
export async function findConceptRow(db: Queryable, { caller, id, field }: ConceptRequest): Promise<ConceptRow> {
  const found = await visibleConcept(db, { id, workspaceIds: visibleWorkspaces(caller) })
  if (found === null) throw missingConcept(id, field)
  return found
}

/**
 * Locks a concept that was found before and returns its current state. Refuses with 404 when the concept was deleted
 * with its knowledge base meanwhile.
 */
export async function lockConcept(tx: Transaction, concept: ConceptKey) {
  const [locked] = await lockConcepts(tx, { workspaceId: concept.workspace_id, ids: [concept.id] })
  if (locked === undefined) throw missingConcept(concept.id)
  return locked
}

/** Refuses with 403 `forbidden` unless the caller may write to the concept. */
export function requireConceptWriter(caller: Caller, concept: ConceptRow): void {
  requireWriter(caller, concept.workspace_id)
}

/** Refuses a write to a merged concept with 409 `concept_merged`. */
export function requireUnmerged(concept: ConceptRow): void {
  const { merged_into_concept_id } = concept
  if (merged_into_concept_id !== null) throw new Refusal('concept_merged', { details: { merged_into_concept_id } })
}

/** Refuses with 409 `concept_not_active` unless the concept is active. */
export function requireActive(concept: ConceptRow): void {
  const { id, status } = concept
  if (status !== 'active') throw new Refusal('concept_not_active', { details: { concept_id: id, status } })
}

/** The refusal of a call about a concept that the caller cannot see: 404 `concept_not_found`. */
export function missingConcept(id: string, field?: string): Refusal {
  return new Refusal('concept_not_found', { details: { id, ...(field !== undefined && { field }) } })
}

/**
 * Returns the key of the visible knowledge base that `knowledge_base_id` names. Refuses with 404
 * `knowledge_base_not_found`.
 */
export async function findKnowledgeBaseKey(
  db: Queryable,
  input: { caller: Caller; id: NamedId },
): Promise<KnowledgeBaseKey> {
  const { caller, id } = input
  const workspaceId = await workspaceOfKnowledgeBase(db, { id, workspaceIds: visibleWorkspaces(caller) })
  if (workspaceId === null) {
    throw new Refusal('knowledge_base_not_found', { details: { id, field: 'knowledge_base_id' } })
  }
  return { workspaceId, id: Number(id) }
}

/**
 * Prevents the deletion of a knowledge base until the transaction ends. Refuses with 404 `knowledge_base_not_found`
 * when the knowledge base is gone already.
 */
export async function lockKnowledgeBase(tx: Transaction, key: KnowledgeBaseKey): Promise<void> {
  const { workspaceId, id } = key
  await lockStructure(tx, { workspaceId, knowledgeBaseIds: [id], mode: 'add' })
  if ((await workspaceOfKnowledgeBase(tx, { id, workspaceIds: [workspaceId] })) !== null) return
  throw new Refusal('knowledge_base_not_found', { details: { id, field: 'knowledge_base_id' } })
}
