import { ConceptMergeInput } from '../../../shared/concepts/inputs.ts'
import { mergeConcept } from '../../../shared/concepts/merge.ts'
import { Concept } from '../../../shared/concepts/schema.ts'
import { parseMember } from '../../http/preconditions.ts'
import { route } from '../../http/route.ts'
import { mergeGuardsOf } from '../../http/version-guard.ts'
import { answerConcept, ConceptParameter } from './answers.ts'

/** `POST /concepts/{id}/merge` (specification 4.5). */
export const postConceptMerge = route({
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
})
