import type { DeletionConsequence } from '../documents/deletion.ts'
import { endJobsOfDeleted } from '../jobs/requested/obsolete.ts'
import { updateSetsOfDeleted } from '../localization/deleted-translations.ts'
import { deleteRelationsWithoutEnds } from '../relations/write.ts'

/**
 * What follows from every deletion of documents, folders and knowledge bases, in this order, inside the transaction of
 * the deletion. Foreign keys delete the rows that belong to one document alone, so only the other consequences are
 * listed here.
 *
 * The order is also the order of locks: knowledge base, documents in the order of their ids, and then the rows of each
 * consequence.
 */
export const deletionConsequences: readonly DeletionConsequence[] = [
  // summary_jobs, translation_jobs: open jobs about what was deleted end as obsolete.
  endJobsOfDeleted,
  // document_sets and their audit: a set without members goes, every other set notes the deleted translations.
  updateSetsOfDeleted,
  // relations: when a knowledge base is deleted, relations of its documents go if neither of their two documents is
  // left.
  deleteRelationsWithoutEnds,
]
