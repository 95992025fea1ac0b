import Type from 'typebox'
import { findKnowledgeBaseKey } from '../../shared/concepts/home.ts'
import { normaliseName } from '../../shared/concepts/normalise.ts'
import { presentSummary } from '../../shared/concepts/present.ts'
import { type ConceptFilter, conceptPage, nameStartLength } from '../../shared/concepts/queries.ts'
import { ConceptSummary } from '../../shared/concepts/schema.ts'
import { IntegerIdInput } from '../../shared/schema/identifiers.ts'
import { Text, TrimmedText } from '../../shared/schema/strings.ts'
import { type CursorScope, decodeCursor, encodeCursor, pageOf } from '../http/pagination.ts'
import { wholeListLimit, wholeListParameters } from '../http/parameters.ts'
import { route } from '../http/route.ts'

/** `GET /concepts` (specification 4.5). */
export const listConcepts = route({
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
})

function positionOf(scope: CursorScope, cursor: string | undefined): ConceptFilter['after'] {
  if (cursor === undefined) return null
  const [nameStart, id] = decodeCursor(scope, cursor, ['string', 'string'])
  return { nameStart: String(nameStart), id: String(id) }
}

function cursorAfter(scope: CursorScope, name: string, id: string): string {
  return encodeCursor(scope, [[...name].slice(0, nameStartLength).join(''), id])
}
