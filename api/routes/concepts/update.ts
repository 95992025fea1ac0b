import { ConceptUpdateInput } from '../../../shared/concepts/inputs.ts'
import { Concept } from '../../../shared/concepts/schema.ts'
import { updateConcept } from '../../../shared/concepts/update.ts'
import { route } from '../../http/route.ts'
import { versionGuard } from '../../http/version-guard.ts'
import { answerConcept, ConceptParameter } from './answers.ts'

/** `PATCH /concepts/{id}` (specification 4.5). */
export const patchConcept = route({
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
})
