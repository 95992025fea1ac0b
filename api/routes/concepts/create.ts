import { createConcept } from '../../../shared/concepts/create.ts'
import { ConceptCreateInput } from '../../../shared/concepts/inputs.ts'
import { Concept } from '../../../shared/concepts/schema.ts'
import { apiPrefix, route } from '../../http/route.ts'
import { answerConcept } from './answers.ts'

/** `POST /concepts` (specification 4.5). */
export const postConcept = route({
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
})
