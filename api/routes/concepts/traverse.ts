import Type from 'typebox'
import { findConcept } from '../../../shared/concepts/find.ts'
import { presentTraversed } from '../../../shared/concepts/present.ts'
import { traversedRelations } from '../../../shared/concepts/relation-queries.ts'
import { ConceptPredicate, TraversedRelation } from '../../../shared/concepts/schema.ts'
import { type CursorScope, decodeCursor, encodeCursor, pageOf } from '../../http/pagination.ts'
import { wholeListLimit, wholeListParameters } from '../../http/parameters.ts'
import { route } from '../../http/route.ts'
import { ConceptParameter } from './answers.ts'

/** `GET /concepts/{id}/traverse` (specification 4.5). */
export const traverseConcept = route({
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
})
