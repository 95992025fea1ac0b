import { addRelation } from '../../../shared/concepts/add-relation.ts'
import { ConceptRelationInput } from '../../../shared/concepts/inputs.ts'
import { ConceptWithRelation } from '../../../shared/concepts/schema.ts'
import { route } from '../../http/route.ts'
import { versionGuard } from '../../http/version-guard.ts'
import { answerConcept, ConceptParameter } from './answers.ts'

/** `POST /concepts/{id}/relations` (specification 4.5). */
export const postConceptRelation = route({
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
})
