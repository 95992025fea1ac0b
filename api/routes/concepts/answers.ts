import Type from 'typebox'
import { presentConcept } from '../../../shared/concepts/present.ts'
import { type ConceptRow, namedConcept } from '../../../shared/concepts/queries.ts'
import type { Queryable } from '../../../shared/database/database.ts'
import { ulidPattern } from '../../../shared/schema/ids.ts'
import type { Answer } from '../../http/route.ts'

/** Path parameter: a concept. */
export const ConceptParameter = Type.Object({
  id: Type.String({ pattern: `^concept_${ulidPattern}$`, description: 'concept id', 'x-error': 'concept_not_found' }),
})

/** Answers a write with the concept as it is now; `extra` are members beside those of the concept. */
export async function answerConcept(db: Queryable, concept: ConceptRow, extra: object = {}): Promise<Answer> {
  const data = await presentConcept(db, await namedConcept(db, concept))
  return { data: { ...data, ...extra }, etag: data.version, workspaceId: concept.workspace_id }
}
