import { type Queue, queues, type RequestedJobKey } from '../queues.ts'

/** A table of requested jobs. `shared/jobs/requested/README.md` lists the columns that all of them have. */
export type RequestedJobTable = {
  name: string
  /** The queue that carries the jobs of the table to workers. */
  queue: Queue<RequestedJobKey>
  /**
   * The columns with the ids of source documents. When the body of such a document changes, an open job becomes
   * obsolete.
   */
  changed: readonly string[]
  /**
   * The columns with ids of what a job is about, by kind of thing. The deletion of the thing makes an open job
   * obsolete.
   */
  deleted: { documents: readonly string[]; folders: readonly string[]; knowledgeBases: readonly string[] }
  /** The values of `obsolete_reason` for a changed source and for a deleted thing. */
  reasons: { changed: string; deleted: string }
}

/**
 * Every kind of requested job. Writes and deletions end open jobs by this table, so their code imports neither
 * summaries nor translations.
 */
export const requestedJobTables: readonly RequestedJobTable[] = [
  {
    name: 'summary_jobs',
    queue: queues.summariesModel,
    changed: ['whole_document_id'],
    deleted: { documents: ['document_id'], folders: ['folder_id'], knowledgeBases: ['knowledge_base_id'] },
    reasons: { changed: 'source_changed', deleted: 'target_deleted' },
  },
  {
    name: 'translation_jobs',
    queue: queues.translationsRun,
    changed: ['source_document_id'],
    deleted: { documents: ['source_document_id', 'target_document_id'], folders: [], knowledgeBases: [] },
    reasons: { changed: 'source_changed', deleted: 'document_deleted' },
  },
]

/** The table of the jobs that a queue carries. Throws for a queue of other jobs. */
export function requestedJobTableOf(queue: Queue<RequestedJobKey>): RequestedJobTable {
  const table = requestedJobTables.find((candidate) => candidate.queue === queue)
  if (table === undefined) throw new Error(`${queue.name} is not a queue of requested jobs`)
  return table
}
