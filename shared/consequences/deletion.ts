import type { DeletionConsequence } from '../documents/deletion.ts'
import { endJobsOfDeleted } from '../jobs/requested/obsolete.ts'
import { updateSetsOfDeleted } from '../localization/deleted-translations.ts'
import { deleteRelationsWithoutEnds } from '../relations/write.ts'
import type { KeptTable } from '../trash/kept-table.ts'

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

/**
 * The tables whose rows go to the trash with a document, folder or knowledge base, in the order in which a restoration
 * inserts them: a row comes after the rows to which it refers. A table of a new noun stands here or in `lostTables`.
 */
export const keptTables: readonly KeptTable[] = [
  { table: 'knowledge_bases', ofKnowledgeBase: 'id' },
  { table: 'folders', ofFolder: 'id', ofKnowledgeBase: 'knowledge_base_id' },
  { table: 'documents', ofDocument: 'id' },
  // Bodies with their history, and what people who were away still hold of a live document.
  { table: 'document_bodies', ofDocument: 'document_id', large: { column: 'body', type: 'text' } },
  { table: 'document_versions', ofDocument: 'document_id' },
  { table: 'document_manifests', ofDocument: 'document_id', large: { column: 'step', type: 'jsonb' } },
  { table: 'document_y_states', ofDocument: 'document_id', large: { column: 'state', type: 'bytea' } },
  { table: 'document_y_updates', ofDocument: 'document_id', large: { column: 'update', type: 'bytea' } },
  { table: 'attachments', ofDocument: 'document_id' },
  { table: 'attachment_references', ofDocument: 'document_id' },
  // Cursors of clients name chains and batches.
  { table: 'change_chains', ofDocument: 'document_id' },
  { table: 'change_batches', ofDocument: 'document_id', large: { column: 'changes', type: 'jsonb' } },
  // Inline relations have ids. Manual relations are kept by deleteRelationsWithoutEnds.
  { table: 'relation_extractions', ofDocument: 'document_id' },
  { table: 'relations', ofDocument: 'inline_source_id' },
  { table: 'concepts', ofKnowledgeBase: 'knowledge_base_id' },
  { table: 'concept_aliases', ofConcept: 'concept_id' },
  { table: 'concept_labels', ofConcept: 'concept_id' },
  { table: 'concept_relations', ofConcept: 'subject_concept_id' },
  { table: 'concept_extractions', ofDocument: 'document_id' },
  { table: 'concept_candidates', ofDocument: 'pending_document_id', ofKnowledgeBase: 'knowledge_base_id' },
  { table: 'summaries', ofDocument: 'document_id', ofFolder: 'folder_id', ofKnowledgeBase: 'knowledge_base_id' },
  { table: 'translation_targets', ofTranslation: 'target_document_id' },
  { table: 'translation_units', ofTranslation: 'target_document_id' },
  { table: 'translation_unit_blocks', ofTranslation: 'target_document_id' },
]

/**
 * The tables that lose rows with a document and whose rows are not kept, with the reason. @internal
 */
export const lostTables: Readonly<Record<string, string>> = {
  knowledge_base_tags: 'documents bring back the spellings of their tags',
  search_documents: 'the search worker derives it',
  search_blocks: 'the search worker derives it',
  stale_projections: 'a restoration marks every projection as stale',
  summary_digests: 'readers fill this cache',
  public_shares: 'a restored document is not shared',
}
