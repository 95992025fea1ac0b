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

/** Who asks for which concept; `field` is the member of a body that named it. */
type Wanted = { caller: Caller; id: string; field?: string }

/** A visible concept with its names, or what it was merged into; otherwise 404. */
export async function findConcept(db: Queryable, { caller, id, field }: Wanted): Promise<NamedConcept> {
  const found = await resolvedConcept(db, { id, workspaceIds: visibleWorkspaces(caller) })
  if (found === null) throw missingConcept(id, field)
  return found
}

/** A visible concept as it is, merged or not; otherwise 404. */
export async function findConceptRow(db: Queryable, { caller, id, field }: Wanted): Promise<ConceptRow> {
  const found = await visibleConcept(db, { id, workspaceIds: visibleWorkspaces(caller) })
  if (found === null) throw missingConcept(id, field)
  return found
}

/** The locked state of a concept that was found before; 404 when it has gone with its knowledge base meanwhile. */
export async function lockConcept(tx: Transaction, concept: ConceptKey) {
  const [locked] = await lockConcepts(tx, { workspaceId: concept.workspace_id, ids: [concept.id] })
  if (locked === undefined) throw missingConcept(concept.id)
  return locked
}

/** Refuses with 403 unless the caller may write to the concept. */
export function requireConceptWriter(caller: Caller, concept: ConceptRow): void {
  requireWriter(caller, concept.workspace_id)
}

/** Refuses a write to a merged concept: 409 `concept_merged`. */
export function requireUnmerged(concept: ConceptRow): void {
  const { merged_into_concept_id } = concept
  if (merged_into_concept_id !== null) throw new Refusal('concept_merged', { details: { merged_into_concept_id } })
}

/** Refuses what only an active concept can be used for: 409 `concept_not_active`. */
export function requireActive(concept: ConceptRow): void {
  const { id, status } = concept
  if (status !== 'active') throw new Refusal('concept_not_active', { details: { concept_id: id, status } })
}

/** The 404 of a concept. */
export function missingConcept(id: string, field?: string): Refusal {
  return new Refusal('concept_not_found', { details: { id, ...(field !== undefined && { field }) } })
}

/** The visible knowledge base that a query or body names; otherwise 404 with the member. */
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

/** Keeps a knowledge base from being deleted until the transaction ends; 404 when that has happened meanwhile. */
export async function lockKnowledgeBase(tx: Transaction, key: KnowledgeBaseKey): Promise<void> {
  const { workspaceId, id } = key
  await lockStructure(tx, { workspaceId, knowledgeBaseIds: [id], mode: 'add' })
  if ((await workspaceOfKnowledgeBase(tx, { id, workspaceIds: [workspaceId] })) !== null) return
  throw new Refusal('knowledge_base_not_found', { details: { id, field: 'knowledge_base_id' } })
}
