import { type Caller, requireWriter } from '../../auth/caller.ts'
import type { Transaction } from '../../database/database.ts'
import { Refusal } from '../../errors/errors.ts'
import { type DocumentSource, lockSource } from '../../jobs/projections/queries.ts'
import type { VersionGuard } from '../../requests/version-guard.ts'
import { newId } from '../../schema/ids.ts'
import { recordEvidence } from '../evidence.ts'
import { findConceptRow, lockConcept, lockKnowledgeBase, requireActive } from '../find.ts'
import { addAliases, claimName } from '../naming-queries.ts'
import { type ConceptRow, insertConcept, raiseVersion } from '../queries.ts'
import { candidateVersion, followsFrom } from './present.ts'
import {
  type CandidateRow,
  findCandidate,
  lockCandidate,
  missingCandidate,
  recordCandidateReview,
  type StoredCandidate,
} from './queries.ts'

/** A request to review a candidate; the guard checks the candidate's version. */
export type ReviewRequest = { id: string; caller: Caller; reason: string | null; guard: VersionGuard }

/**
 * Accepts a pending candidate whose source is unchanged. The candidate becomes a new concept or, with `conceptId`, an
 * alias and evidence of that concept. Returns the new or named concept. Refuses with 409 `candidate_already_reviewed`,
 * `candidate_source_changed`, `concept_not_active`, `concept_name_conflict` or `version_conflict`, in this order.
 * Refuses with 422 `cross_knowledge_base`.
 */
export async function acceptCandidate(
  tx: Transaction,
  request: ReviewRequest & { conceptId: string | undefined },
): Promise<ConceptRow> {
  const { caller, guard, reason, conceptId } = request
  const found = await findCandidate(tx, { caller, id: request.id })
  const named =
    conceptId === undefined ? null : await findConceptRow(tx, { caller, id: conceptId, field: 'concept_id' })
  requireWriter(caller, found.workspace_id)
  guard.require()
  const locked = await lockForReview(tx, found)
  requireUnchanged(locked)
  const check = () => guard.check(candidateVersion(locked.candidate))
  const concept = named === null ? await becomeConcept(tx, locked, check) : await foldInto(tx, { locked, named, check })
  await recordCandidateReview(tx, locked.candidate, {
    status: 'accepted',
    reviewedBy: caller.userId,
    reason,
    conceptId: concept.id,
    knowledgeBaseId: locked.knowledgeBaseId,
  })
  return concept
}

/**
 * Rejects a pending candidate for good. Refuses with 409 `candidate_already_reviewed` or `version_conflict`, in this
 * order.
 */
export async function rejectCandidate(tx: Transaction, request: ReviewRequest): Promise<void> {
  const { caller, guard, reason } = request
  const found = await findCandidate(tx, { caller, id: request.id })
  requireWriter(caller, found.workspace_id)
  guard.require()
  const { candidate, knowledgeBaseId } = await lockForReview(tx, found)
  guard.check(candidateVersion(candidate))
  const reviewedBy = caller.userId
  await recordCandidateReview(tx, candidate, {
    status: 'rejected',
    reviewedBy,
    reason,
    conceptId: null,
    knowledgeBaseId,
  })
}

type LockedReview = { candidate: StoredCandidate; document: DocumentSource; knowledgeBaseId: number }

// Locks knowledge base, document and candidate, in the order in which deletions lock these rows. If the document moved
// to another knowledge base before it was locked, the procedure starts again with that knowledge base.
async function lockForReview(tx: Transaction, found: CandidateRow): Promise<LockedReview> {
  const { workspace_id, document_id, knowledge_base_id } = found
  requirePending(found)
  await lockKnowledgeBase(tx, { workspaceId: workspace_id, id: knowledge_base_id })
  const document = await lockSource(tx, { workspace_id, document_id })
  const candidate = await lockCandidate(tx, { workspaceId: workspace_id, id: found.id })
  if (candidate === null) throw missingCandidate(found.id)
  requirePending(candidate)
  if (document === null) throw missingCandidate(found.id)
  if (document.knowledge_base_id === knowledge_base_id) {
    return { candidate, document, knowledgeBaseId: knowledge_base_id }
  }
  return lockForReview(tx, { ...found, knowledge_base_id: document.knowledge_base_id })
}

function requirePending({ review_status, concept_id }: StoredCandidate): void {
  if (review_status === 'pending') return
  throw new Refusal('candidate_already_reviewed', { details: { review_status, concept_id } })
}

function requireUnchanged({ candidate, document }: LockedReview): void {
  if (followsFrom(candidate, document)) return
  const details = { provided: candidate.source_version, current_version: document.version }
  throw new Refusal('candidate_source_changed', { details })
}

async function becomeConcept(tx: Transaction, locked: LockedReview, check: () => void): Promise<ConceptRow> {
  const { candidate, knowledgeBaseId } = locked
  const { workspace_id, name, normalized_name } = candidate
  await claimName(tx, { workspaceId: workspace_id, knowledgeBaseId, normalizedName: normalized_name })
  check()
  const concept = await insertConcept(tx, {
    workspace_id,
    id: newId('concept'),
    knowledge_base_id: knowledgeBaseId,
    name,
    normalized_name,
    description: null,
    canonical_document_id: null,
  })
  await recordSource(tx, concept, candidate)
  return concept
}

async function foldInto(
  tx: Transaction,
  input: { locked: LockedReview; named: ConceptRow; check: () => void },
): Promise<ConceptRow> {
  const { candidate, knowledgeBaseId } = input.locked
  const concept = await lockConcept(tx, input.named)
  requireActive(concept)
  input.check()
  if (concept.knowledge_base_id !== knowledgeBaseId) throw new Refusal('cross_knowledge_base')
  if (candidate.normalized_name !== concept.normalized_name) {
    await addAliases(tx, concept, { aliases: [candidate.name], origin: 'candidate' })
  }
  await recordSource(tx, concept, candidate)
  await raiseVersion(tx, concept)
  return concept
}

async function recordSource(tx: Transaction, concept: ConceptRow, candidate: StoredCandidate): Promise<void> {
  const { document_id, block_id, source_version, excerpt } = candidate
  const source = { document_id, block_id, version: source_version, provided: undefined, excerpt }
  const evidence = [{ ...source, valid_from: null, valid_to: null }]
  await recordEvidence(tx, concept, { evidence, origin: 'candidate' })
}
