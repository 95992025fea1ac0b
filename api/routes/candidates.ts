import Type from 'typebox'
import { extractFromDocument } from '../../shared/concepts/candidates/extract-document.ts'
import { presentCandidates } from '../../shared/concepts/candidates/present.ts'
import {
  type CandidateRow,
  candidatePage,
  findCandidate,
  missingCandidate,
  visibleCandidate,
} from '../../shared/concepts/candidates/queries.ts'
import { acceptCandidate, rejectCandidate } from '../../shared/concepts/candidates/review.ts'
import {
  AcceptedCandidate,
  CandidateAcceptInput,
  CandidateRejectInput,
  ConceptCandidate,
  ExtractInput,
  Extraction,
} from '../../shared/concepts/candidates/schema.ts'
import { findKnowledgeBaseKey } from '../../shared/concepts/find.ts'
import { presentConcept } from '../../shared/concepts/present.ts'
import { namedConcept } from '../../shared/concepts/queries.ts'
import type { Queryable } from '../../shared/database/database.ts'
import { IntegerIdInput } from '../../shared/schema/identifiers.ts'
import { ulidPattern } from '../../shared/schema/ids.ts'
import { Text } from '../../shared/schema/strings.ts'
import { type CursorScope, decodeCursor, encodeCursor, type ListPage, pageOf } from '../http/pagination.ts'
import { wholeListLimit, wholeListParameters } from '../http/parameters.ts'
import { type Route, route } from '../http/route.ts'
import { versionGuard } from '../http/version-guard.ts'

const tag = 'Concepts'

const CandidateParameter = Type.Object({
  id: Type.String({ pattern: `^cand_${ulidPattern}$`, description: 'candidate id', 'x-error': 'candidate_not_found' }),
})

/** The routes of candidates and their review. */
export const candidateRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/concept-candidates',
    operationId: 'listConceptCandidates',
    tag,
    summary: 'List the candidates of a knowledge base by document',
    description:
      'Derived, and no part of the concepts. With `candidate_id` that one alone, whatever its status, with its ETag.',
    scopes: ['concepts:read'],
    query: Type.Object({
      knowledge_base_id: IntegerIdInput,
      candidate_id: Type.Optional(Text()),
      document_id: Type.Optional(Text()),
      review_status: Type.Optional(Type.Enum(['pending', 'accepted', 'rejected', 'all'], { default: 'pending' })),
      ...wholeListParameters,
    }),
    success: { status: 200, description: 'Candidates', data: ConceptCandidate, list: true, etag: true },
    errors: ['knowledge_base_not_found', 'candidate_not_found', 'invalid_cursor'],
    async handle({ db, caller, query, endpoint }) {
      const { knowledge_base_id: named, candidate_id: id, limit = wholeListLimit, cursor } = query
      const filters = {
        knowledgeBaseId: named,
        status: query.review_status ?? 'pending',
        documentId: query.document_id,
      }
      const scope: CursorScope = { endpoint, filters, sort: 'document_id' }
      const after = positionOf(scope, cursor)
      const { workspaceId, id: knowledgeBaseId } = await findKnowledgeBaseKey(db, { caller, id: named })
      if (id !== undefined) return exactRead(db, { id, workspaceId, knowledgeBaseId })
      const rows = await candidatePage(db, { ...filters, knowledgeBaseId, workspaceId, after, limit })
      const next = (last: CandidateRow) => encodeCursor(scope, [last.document_id, last.id])
      const { data, page } = pageOf({ rows, limit, cursor, next })
      return { data: await presentCandidates(db, data), page }
    },
  }),

  route({
    method: 'POST',
    path: '/concept-candidates/extract',
    operationId: 'extractConceptCandidates',
    tag,
    summary: 'Extract candidates from the title and the link texts of a document',
    description:
      'Deterministic, without a model, and never makes concepts of them. From then on changes of the document refresh its candidates.',
    scopes: ['concepts:write'],
    body: ExtractInput,
    success: { status: 201, description: 'What was found', data: Extraction },
    errors: ['document_not_found', 'invalid_node'],
    async handle({ tx, ahead, caller, body }) {
      const input = { documentId: body.document_id, caller }
      const { extraction, workspaceId } = await extractFromDocument({ tx, ahead }, input)
      return { data: extraction, workspaceId, documentIds: [body.document_id] }
    },
  }),

  route({
    method: 'POST',
    path: '/concept-candidates/{id}/accept',
    operationId: 'acceptConceptCandidate',
    tag,
    summary: 'Accept a candidate',
    description: 'Makes a new concept of it or, with `concept_id`, an alias and evidence of that one.',
    scopes: ['concepts:write'],
    params: CandidateParameter,
    body: CandidateAcceptInput,
    guard: 'required',
    versionForm: 'candidate',
    success: { status: 200, description: 'The candidate and its concept', data: AcceptedCandidate, etag: true },
    errors: [
      'concept_not_found',
      'candidate_already_reviewed',
      'candidate_source_changed',
      'concept_name_conflict',
      'concept_not_active',
      'cross_knowledge_base',
    ],
    async handle({ tx, caller, params: { id }, body, guard }) {
      const { concept_id: conceptId, reason = null } = body
      const accepted = await acceptCandidate(tx, { id, caller, reason, conceptId, guard: versionGuard(guard) })
      const [candidate] = await presentCandidates(tx, [await findCandidate(tx, { caller, id })])
      const concept = await presentConcept(tx, await namedConcept(tx, accepted))
      const etag = candidate?.version ?? null
      const documentIds = candidate === undefined ? [] : [candidate.document_id]
      return { data: { candidate, concept }, etag, workspaceId: accepted.workspace_id, documentIds }
    },
  }),

  route({
    method: 'POST',
    path: '/concept-candidates/{id}/reject',
    operationId: 'rejectConceptCandidate',
    tag,
    summary: 'Reject a candidate',
    description: 'For good: the same finding in the same place is not proposed again.',
    scopes: ['concepts:write'],
    params: CandidateParameter,
    body: CandidateRejectInput,
    guard: 'required',
    versionForm: 'candidate',
    success: { status: 200, description: 'The candidate', data: ConceptCandidate, etag: true },
    errors: ['candidate_already_reviewed'],
    async handle({ tx, caller, params: { id }, body, guard }) {
      await rejectCandidate(tx, { id, caller, reason: body.reason ?? null, guard: versionGuard(guard) })
      const found = await findCandidate(tx, { caller, id })
      const [data] = await presentCandidates(tx, [found])
      return { data, etag: data?.version ?? null, workspaceId: found.workspace_id, documentIds: [found.document_id] }
    },
  }),
]

const wholePage: ListPage = { cursor: null, next_cursor: null, has_more: false }

async function exactRead(db: Queryable, key: { id: string; workspaceId: string; knowledgeBaseId: number }) {
  const found = await visibleCandidate(db, { id: key.id, workspaceIds: [key.workspaceId] })
  if (found?.knowledge_base_id !== key.knowledgeBaseId) throw missingCandidate(key.id, 'candidate_id')
  const data = await presentCandidates(db, [found])
  return { data, page: wholePage, etag: data[0]?.version ?? null }
}

function positionOf(scope: CursorScope, cursor: string | undefined) {
  if (cursor === undefined) return null
  const [documentId, id] = decodeCursor(scope, cursor, ['string', 'string'])
  return { documentId: String(documentId), id: String(id) }
}
