import { addEvidence } from '../../../shared/concepts/evidence.ts'
import { ConceptEvidenceInput } from '../../../shared/concepts/inputs.ts'
import { ConceptWithRelation } from '../../../shared/concepts/schema.ts'
import { route } from '../../http/route.ts'
import { versionGuard } from '../../http/version-guard.ts'
import { answerConcept, ConceptParameter } from './answers.ts'

/** `POST /concepts/{id}/sources` (specification 4.5). */
export const postConceptSource = route({
  method: 'POST',
  path: '/concepts/{id}/sources',
  operationId: 'addConceptSource',
  tag: 'Concepts',
  summary: 'Add evidence to a concept',
  description: 'For a document and block that is evidence already, version and excerpt of that relation are replaced.',
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
})
