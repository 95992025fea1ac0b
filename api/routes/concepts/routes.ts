import type { Route } from '../../http/route.ts'
import { listConcepts } from '../concepts.ts'
import { postConcept } from './create.ts'
import { postConceptMerge } from './merge.ts'
import { getConcept } from './read.ts'
import { postConceptRelation } from './relations.ts'
import { postConceptSource } from './sources.ts'
import { traverseConcept } from './traverse.ts'
import { patchConcept } from './update.ts'

/** Concepts, their evidence and relations (specification 4.5). */
export const conceptRoutes: readonly Route[] = [
  listConcepts,
  postConcept,
  getConcept,
  patchConcept,
  postConceptSource,
  postConceptRelation,
  postConceptMerge,
  traverseConcept,
]
