import { findConcept } from '../../../shared/concepts/find.ts'
import { conceptVersion, presentConcept } from '../../../shared/concepts/present.ts'
import { Concept } from '../../../shared/concepts/schema.ts'
import { route } from '../../http/route.ts'
import { ConceptParameter } from './answers.ts'

/** `GET /concepts/{id}` (specification 4.5). */
export const getConcept = route({
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
})
