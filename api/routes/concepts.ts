import Type from 'typebox'
import { addRelation } from '../../shared/concepts/add-relation.ts'
import { createConcept } from '../../shared/concepts/create.ts'
import { addEvidence } from '../../shared/concepts/evidence.ts'
import { findConcept, findKnowledgeBaseKey } from '../../shared/concepts/find.ts'
import {
  ConceptCreateInput,
  ConceptEvidenceInput,
  ConceptMergeInput,
  ConceptRelationInput,
  ConceptUpdateInput,
} from '../../shared/concepts/inputs.ts'
import { mergeConcept } from '../../shared/concepts/merge.ts'
import { normaliseName } from '../../shared/concepts/names.ts'
import { conceptVersion, presentConcept, presentSummary, presentTraversed } from '../../shared/concepts/present.ts'
import {
  type ConceptFilter,
  type ConceptRow,
  conceptPage,
  namedConcept,
  nameStartLength,
} from '../../shared/concepts/queries.ts'
import { traversedRelations } from '../../shared/concepts/relation-queries.ts'
import {
  Concept,
  ConceptPredicate,
  ConceptSummary,
  ConceptWithRelation,
  TraversedRelation,
} from '../../shared/concepts/schema.ts'
import { updateConcept } from '../../shared/concepts/update.ts'
import type { Queryable } from '../../shared/database/database.ts'
import { IntegerIdInput } from '../../shared/schema/identifiers.ts'
import { ulidPattern } from '../../shared/schema/ids.ts'
import { Text, TrimmedText } from '../../shared/schema/strings.ts'
import { type CursorScope, decodeCursor, encodeCursor, pageOf } from '../http/pagination.ts'
import { wholeListLimit, wholeListParameters } from '../http/parameters.ts'
import { parseMember } from '../http/preconditions.ts'
import { type Answer, apiPrefix, type Route, route } from '../http/route.ts'
import { mergeGuardsOf, versionGuard } from '../http/version-guard.ts'

/** The path parameter of a concept. */
const ConceptParameter = Type.Object({
  id: Type.String({ pattern: `^concept_${ulidPattern}$`, description: 'concept id', 'x-error': 'concept_not_found' }),
})

/** The routes of concepts: their evidence, relations, hierarchy and merges. */
export const conceptRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/concepts',
    operationId: 'listConcepts',
    tag: 'Concepts',
    summary: 'List the concepts of a knowledge base by name',
    description: 'Explicit concepts only, never candidates. `complete=true` says that no concept is missing.',
    scopes: ['concepts:read'],
    query: Type.Object({
      knowledge_base_id: IntegerIdInput,
      document_id: Type.Optional(Text({ description: 'canonical or evidence document' })),
      q: Type.Optional(TrimmedText({ min: 1, max: 200, description: 'part of the name or of an alias' })),
      status: Type.Optional(Type.Enum(['active', 'archived', 'merged', 'all'], { default: 'active' })),
      ...wholeListParameters,
    }),
    success: {
      status: 200,
      description: 'Concepts without their relations',
      data: ConceptSummary,
      list: true,
      members: { complete: Type.Boolean({ description: 'whether this page ends the list' }) },
    },
    errors: ['knowledge_base_not_found', 'invalid_cursor'],
    async handle({ db, caller, query, endpoint }) {
      const { knowledge_base_id: knowledgeBaseId, status = 'active', limit = wholeListLimit, cursor } = query
      const filters = {
        knowledgeBaseId,
        status,
        documentId: query.document_id,
        nameContains: query.q === undefined ? undefined : normaliseName(query.q),
      }
      const scope: CursorScope = { endpoint, filters, sort: 'name' }
      const after = positionOf(scope, cursor)
      const { workspaceId, id } = await findKnowledgeBaseKey(db, { caller, id: knowledgeBaseId })
      const rows = await conceptPage(db, { ...filters, knowledgeBaseId: id, workspaceId, after, limit })
      const { data, page } = pageOf({ rows, limit, cursor, next: ({ name, id }) => cursorAfter(scope, name, id) })
      return { data: data.map(presentSummary), page, members: { complete: !page.has_more } }
    },
  }),

  route({
    method: 'POST',
    path: '/concepts',
    operationId: 'createConcept',
    tag: 'Concepts',
    summary: 'Create a concept',
    description: 'The `source_*` members are one more evidence, for which `valid_from` and `valid_to` count.',
    scopes: ['concepts:write'],
    body: ConceptCreateInput,
    success: { status: 201, description: 'The new concept', data: Concept, etag: true, location: true },
    errors: [
      'knowledge_base_not_found',
      'document_not_found',
      'block_not_found',
      'concept_name_conflict',
      'evidence_changed',
      'invalid_locale',
    ],
    async handle({ tx, caller, body }) {
      const concept = await createConcept(tx, { caller, concept: body })
      return { ...(await answerConcept(tx, concept)), location: `${apiPrefix}/concepts/${concept.id}` }
    },
  }),

  route({
    method: 'GET',
    path: '/concepts/{id}',
    operationId: 'getConcept',
    tag: 'Concepts',
    summary: 'Read a concept with its relations and evidence',
    description: 'The id of a merged concept leads to the one that is left, which then carries `requested_id`.',
    scopes: ['concepts:read'],
    params: ConceptParameter,
    success: { status: 200, description: 'The concept', data: Concept, etag: true },
    errors: [],
    async handle({ db, caller, params: { id } }) {
      const concept = await findConcept(db, { caller, id })
      const data = await presentConcept(db, concept)
      return { data: concept.id === id ? data : { ...data, requested_id: id }, etag: conceptVersion(concept) }
    },
  }),

  route({
    method: 'PATCH',
    path: '/concepts/{id}',
    operationId: 'updateConcept',
    tag: 'Concepts',
    summary: 'Change, archive or reactivate a concept',
    description: 'Absent members stay. Aliases and labels that came from candidates or merges are not replaced.',
    scopes: ['concepts:write'],
    params: ConceptParameter,
    body: ConceptUpdateInput,
    guard: 'required',
    versionForm: 'concept',
    success: { status: 200, description: 'The concept', data: Concept, etag: true },
    errors: ['document_not_found', 'concept_name_conflict', 'concept_merged', 'invalid_locale'],
    async handle({ tx, caller, params, body, guard }) {
      const concept = await updateConcept(tx, { id: params.id, caller, update: body, guard: versionGuard(guard) })
      return answerConcept(tx, concept)
    },
  }),

  route({
    method: 'POST',
    path: '/concepts/{id}/sources',
    operationId: 'addConceptSource',
    tag: 'Concepts',
    summary: 'Add evidence to a concept',
    description:
      'For a document and block that is evidence already, version and excerpt of that relation are replaced.',
    scopes: ['concepts:write'],
    params: ConceptParameter,
    body: ConceptEvidenceInput,
    guard: 'required',
    versionForm: 'concept',
    success: { status: 201, description: 'The concept', data: ConceptWithRelation, etag: true },
    errors: ['document_not_found', 'block_not_found', 'evidence_changed', 'concept_merged'],
    async handle({ tx, caller, params, body, guard }) {
      const request = { id: params.id, caller, evidence: body, guard: versionGuard(guard) }
      const { concept, relationId } = await addEvidence(tx, request)
      return answerConcept(tx, concept, { relation_id: relationId })
    },
  }),

  route({
    method: 'POST',
    path: '/concepts/{id}/relations',
    operationId: 'addConceptRelation',
    tag: 'Concepts',
    summary: 'Relate a concept to a concept, document or block',
    description:
      '`alias_of` and `broader_than` take a concept, `evidenced_by` a document or block, `related_to` any of them.',
    scopes: ['concepts:write'],
    params: ConceptParameter,
    body: ConceptRelationInput,
    guard: 'required',
    versionForm: 'concept',
    success: { status: 201, description: 'The concept', data: ConceptWithRelation, etag: true },
    errors: [
      'document_not_found',
      'block_not_found',
      'evidence_changed',
      'concept_self_relation',
      'concept_relation_cycle',
      'concept_relation_exists',
      'concept_merged',
      'cross_knowledge_base',
    ],
    async handle({ tx, caller, params, body, guard }) {
      const request = { id: params.id, caller, relation: body, guard: versionGuard(guard) }
      const { concept, relationId } = await addRelation(tx, request)
      return answerConcept(tx, concept, { relation_id: relationId })
    },
  }),

  route({
    method: 'POST',
    path: '/concepts/{id}/merge',
    operationId: 'mergeConcept',
    tag: 'Concepts',
    summary: 'Merge a concept into another',
    description:
      'If-Match guards the concept of the path; `target_version`, or a second tag in If-Match, the target. Answers with the target, to which the merged id leads from now on.',
    scopes: ['concepts:write'],
    params: ConceptParameter,
    body: ConceptMergeInput,
    guard: 'required',
    versionForm: 'concept',
    success: { status: 200, description: 'The target', data: Concept, etag: true },
    errors: [
      'precondition_mismatch',
      'concept_self_merge',
      'concept_not_active',
      'concept_merged',
      'concept_relation_cycle',
      'cross_knowledge_base',
    ],
    async handle({ tx, caller, params, body, guard }) {
      const { target_concept_id: targetId, target_version: value, reason = null } = body
      const guards = mergeGuardsOf(guard, parseMember({ name: 'target_version', value, form: 'concept' }))
      return answerConcept(tx, await mergeConcept(tx, { id: params.id, targetId, reason, caller, guards }))
    },
  }),

  route({
    method: 'GET',
    path: '/concepts/{id}/traverse',
    operationId: 'traverseConcept',
    tag: 'Concepts',
    summary: 'List the relations that touch a concept at an instant',
    description: 'Relations with `valid_from` <= `at` < `valid_to`, in the order in which they were made.',
    scopes: ['concepts:read'],
    params: ConceptParameter,
    query: Type.Object({
      at: Type.Optional(
        Type.Integer({ minimum: -8.64e15, maximum: 8.64e15, description: 'Unix milliseconds; by default now' }),
      ),
      direction: Type.Optional(Type.Enum(['outgoing', 'incoming', 'both'], { default: 'both' })),
      predicate: Type.Optional(ConceptPredicate),
      ...wholeListParameters,
    }),
    success: { status: 200, description: 'Relations', data: TraversedRelation, list: true },
    errors: ['concept_not_found', 'invalid_cursor'],
    async handle({ db, caller, params, query, endpoint }) {
      const { direction = 'both', predicate, limit = wholeListLimit, cursor } = query
      const filters = { id: params.id, direction, predicate, at: query.at }
      const scope: CursorScope = { endpoint, filters, sort: 'id' }
      const after = cursor === undefined ? null : String(decodeCursor(scope, cursor, ['string'])[0])
      const at = query.at ?? Date.now()
      const concept = await findConcept(db, { caller, id: params.id })
      const directions = direction === 'both' ? (['outgoing', 'incoming'] as const) : [direction]
      const rows = await traversedRelations(db, concept, { at, directions, predicate, after, limit })
      const { data, page } = pageOf({ rows, limit, cursor, next: ({ id }) => encodeCursor(scope, [id]) })
      return { data: await presentTraversed(db, { concept, relations: data, at }), page }
    },
  }),
]

function positionOf(scope: CursorScope, cursor: string | undefined): ConceptFilter['after'] {
  if (cursor === undefined) return null
  const [nameStart, id] = decodeCursor(scope, cursor, ['string', 'string'])
  return { nameStart: String(nameStart), id: String(id) }
}

function cursorAfter(scope: CursorScope, name: string, id: string): string {
  return encodeCursor(scope, [[...name].slice(0, nameStartLength).join(''), id])
}

// Answers a write with the current concept. `extra` holds further members of `data`.
async function answerConcept(db: Queryable, concept: ConceptRow, extra: object = {}): Promise<Answer> {
  const data = await presentConcept(db, await namedConcept(db, concept))
  return { data: { ...data, ...extra }, etag: data.version, workspaceId: concept.workspace_id }
}
