import Type, { type Static } from 'typebox'
import { type Caller, visibleWorkspaces } from '../../auth/caller.ts'
import { prepared, type Queryable, sql, type Transaction } from '../../database/database.ts'
import { row } from '../../database/row.ts'
import { inWorkspaces } from '../../database/workspaces.ts'
import { Refusal } from '../../errors/errors.ts'
import { Nullable } from '../../schema/identifiers.ts'
import { Extractor, ReviewStatus } from './schema.ts'

const text = Type.String()
const StoredShape = Type.Object({
  workspace_id: text,
  id: text,
  document_id: text,
  block_id: Nullable(text),
  name: text,
  normalized_name: text,
  excerpt: text,
  extractor: Extractor,
  extractor_version: text,
  fingerprint: text,
  source_version: text,
  review_status: ReviewStatus,
  reviewed_at: Nullable(Type.Number()),
  reviewed_by: Nullable(text),
  review_reason: Nullable(text),
  concept_id: Nullable(text),
  version: Type.Number(),
  created_at: Type.Number(),
  updated_at: Type.Number(),
})

/** A row of `concept_candidates` without its knowledge base, which only a reviewed candidate stores. */
export type StoredCandidate = Static<typeof StoredShape>

const columns = sql.fragment`
  c.workspace_id, c.id, c.document_id, c.block_id, c.name, c.normalized_name, c.excerpt, c.extractor,
  c.extractor_version, c.fingerprint, c.source_version, c.review_status, c.reviewed_at, c.reviewed_by, c.review_reason,
  c.concept_id, c.version, c.created_at, c.updated_at`

const CandidateShape = Type.Object({
  ...StoredShape.properties,
  knowledge_base_id: Type.Number(),
  current_version: Nullable(text),
  current_title: Nullable(text),
  suggested_concept_id: Nullable(text),
})
const CandidateRow = row(CandidateShape)

/**
 * A candidate with its knowledge base, the current version and title of its document, and a concept of its name.
 * Version and title are null when the document is gone.
 */
export type CandidateRow = Static<typeof CandidateShape>

const located = sql.fragment`
  ${columns}, coalesce(c.knowledge_base_id, d.knowledge_base_id) AS knowledge_base_id, d.version AS current_version,
  d.title AS current_title`

// For a pending candidate: the active concept whose name is the candidate's name, or else the first active concept with
// this name as an alias.
const suggestion = sql.fragment`
  CASE WHEN p.review_status = 'pending' THEN coalesce(
    (SELECT k.id FROM concepts k
     WHERE k.workspace_id = p.workspace_id AND k.knowledge_base_id = p.knowledge_base_id AND k.status = 'active'
       AND md5(k.normalized_name) = md5(p.normalized_name)),
    (SELECT k.id FROM concept_aliases a
     JOIN concepts k ON k.workspace_id = a.workspace_id AND k.id = a.concept_id
     WHERE a.workspace_id = p.workspace_id AND md5(a.normalized_alias) = md5(p.normalized_name)
       AND k.knowledge_base_id = p.knowledge_base_id AND k.status = 'active'
     ORDER BY k.id LIMIT 1)) END AS suggested_concept_id`

const withDocument = sql.fragment`
  FROM concept_candidates c LEFT JOIN documents d ON d.workspace_id = c.workspace_id AND d.id = c.document_id`

/** Returns a visible candidate, or null. */
export function visibleCandidate(
  db: Queryable,
  locator: { id: string; workspaceIds: readonly string[] },
): Promise<CandidateRow | null> {
  return db.maybeOne(sql.type(CandidateRow)`
    SELECT p.*, ${suggestion} FROM (
      SELECT ${located} ${withDocument}
      WHERE ${inWorkspaces(sql.fragment`c.workspace_id`, locator.workspaceIds)} AND c.id = ${locator.id}
    ) p`)
}

/** Returns the pending candidates of a document with the given fingerprints, in the order of creation. */
export function pendingCandidates(
  db: Queryable,
  key: { workspaceId: string; documentId: string; fingerprints: readonly string[] },
): Promise<readonly CandidateRow[]> {
  return db.any(sql.type(CandidateRow)`
    SELECT p.*, ${suggestion} FROM (
      SELECT ${located} ${withDocument}
      WHERE c.workspace_id = ${key.workspaceId} AND c.pending_document_id = ${key.documentId}
        AND c.fingerprint = ANY(${sql.array([...key.fingerprints], 'text')})
    ) p ORDER BY p.id`)
}

/** The filters of `GET /concept-candidates`; `after` is the position of the last candidate of the previous page. */
export type CandidateFilter = {
  workspaceId: string
  knowledgeBaseId: number
  status: ReviewStatus | 'all'
  documentId?: string | undefined
  after: { documentId: string; id: string } | null
  limit: number
}

/** Returns one page of candidates by document, with one more than the limit when there are more. */
export function candidatePage(db: Queryable, filter: CandidateFilter): Promise<readonly CandidateRow[]> {
  const { status } = filter
  const branches = [
    ...(status === 'pending' || status === 'all' ? [pendingPage(filter)] : []),
    ...(status === 'pending' ? [] : [reviewedPage(filter)]),
  ]
  return db.any(sql.type(CandidateRow)`
    SELECT p.*, ${suggestion} FROM (
      SELECT * FROM (${sql.join(branches, sql.fragment` UNION ALL `)}) AS either
      ORDER BY document_id, id LIMIT ${filter.limit + 1}
    ) p ORDER BY p.document_id, p.id`)
}

// A pending candidate is in the knowledge base of its document.
function pendingPage({ workspaceId, knowledgeBaseId, documentId, after, limit }: CandidateFilter) {
  const conditions = [
    sql.fragment`d.workspace_id = ${workspaceId} AND d.knowledge_base_id = ${knowledgeBaseId}`,
    ...(documentId === undefined ? [] : [sql.fragment`d.id = ${documentId}`]),
    ...(after === null
      ? []
      : [sql.fragment`d.id >= ${after.documentId} AND (d.id, c.id) > (${after.documentId}, ${after.id})`]),
  ]
  return sql.fragment`
    (SELECT ${located} FROM documents d
     JOIN concept_candidates c ON c.workspace_id = d.workspace_id AND c.pending_document_id = d.id
     WHERE ${sql.join(conditions, sql.fragment` AND `)}
     ORDER BY d.id, c.id LIMIT ${limit + 1})`
}

function reviewedPage({ workspaceId, knowledgeBaseId, status, documentId, after, limit }: CandidateFilter) {
  const conditions = [
    sql.fragment`c.workspace_id = ${workspaceId} AND c.knowledge_base_id = ${knowledgeBaseId}`,
    ...(status === 'all' ? [] : [sql.fragment`c.review_status = ${status}`]),
    ...(documentId === undefined ? [] : [sql.fragment`c.document_id = ${documentId}`]),
    ...(after === null ? [] : [sql.fragment`(c.document_id, c.id) > (${after.documentId}, ${after.id})`]),
  ]
  return sql.fragment`
    (SELECT ${located} ${withDocument}
     WHERE ${sql.join(conditions, sql.fragment` AND `)}
     ORDER BY c.document_id, c.id LIMIT ${limit + 1})`
}

/**
 * Locks a candidate against every other review and every refresh, and returns the candidate. Returns null when the
 * candidate was deleted with its document.
 */
export function lockCandidate(
  tx: Transaction,
  key: { workspaceId: string; id: string },
): Promise<StoredCandidate | null> {
  return tx.maybeOne(
    prepared(sql.type(row(StoredShape))`
    SELECT ${columns} FROM concept_candidates c
    WHERE c.workspace_id = ${key.workspaceId} AND c.id = ${key.id} FOR UPDATE`),
  )
}

/** The decision of a reviewer about a candidate. */
export type CandidateReview = {
  status: 'accepted' | 'rejected'
  reviewedBy: string
  reason: string | null
  conceptId: string | null
  knowledgeBaseId: number
}

/** Records the review of a candidate, for good. The caller has locked the candidate by `lockCandidate`. */
export async function recordCandidateReview(
  tx: Transaction,
  candidate: StoredCandidate,
  review: CandidateReview,
): Promise<void> {
  await tx.query(sql.unsafe`
    UPDATE concept_candidates SET review_status = ${review.status}, reviewed_at = clock_timestamp(),
      reviewed_by = ${review.reviewedBy}, review_reason = ${review.reason}, concept_id = ${review.conceptId},
      knowledge_base_id = ${review.knowledgeBaseId}, version = version + 1, missing_since = NULL,
      updated_at = greatest(clock_timestamp(), updated_at)
    WHERE workspace_id = ${candidate.workspace_id} AND id = ${candidate.id}`)
}

/** Returns a visible candidate. Refuses with 404 `candidate_not_found`. */
export async function findCandidate(db: Queryable, input: { caller: Caller; id: string }): Promise<CandidateRow> {
  const found = await visibleCandidate(db, { id: input.id, workspaceIds: visibleWorkspaces(input.caller) })
  if (found === null) throw missingCandidate(input.id)
  return found
}

/**
 * The refusal of a call about a candidate that the caller cannot see: 404 `candidate_not_found`. `field` is the
 * parameter that named the candidate.
 */
export function missingCandidate(id: string, field?: string): Refusal {
  return new Refusal('candidate_not_found', { details: { id, ...(field !== undefined && { field }) } })
}
