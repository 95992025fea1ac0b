import { type Queue, queues, type RequestedJobKey } from '../queues.ts'

/** A table of requested jobs. `shared/jobs/requested/README.md` lists the columns that all of them have. */
export type RequestedJobTable = {
  name: string
  /** The queue that carries the jobs of the table to workers. */
  queue: Queue<RequestedJobKey>
  /** The columns with the ids of source documents: an open job becomes obsolete when such a body changes. */
  changed: readonly string[]
  /** The columns with ids of what a job is about, by kind of thing: an open job becomes obsolete with the thing. */
  deleted: { documents: readonly string[]; folders: readonly string[]; knowledgeBases: readonly string[] }
  /** The values of `obsolete_reason` for a changed source and for a deleted thing. */
  reasons: { changed: string; deleted: string }
}

/** The table of summaries by a model. */
export const summaryJobs: RequestedJobTable = {
  name: 'summary_jobs',
  queue: queues.summariesModel,
  changed: ['whole_document_id'],
  deleted: { documents: ['document_id'], folders: ['folder_id'], knowledgeBases: ['knowledge_base_id'] },
  reasons: { changed: 'source_changed', deleted: 'target_deleted' },
}

/** The table of translations by a model. */
export const translationJobs: RequestedJobTable = {
  name: 'translation_jobs',
  queue: queues.translationsRun,
  changed: ['source_document_id'],
  deleted: { documents: ['source_document_id', 'target_document_id'], folders: [], knowledgeBases: [] },
  reasons: { changed: 'source_changed', deleted: 'document_deleted' },
}

/** Every kind of requested job, for writes, which import neither summaries nor translations. */
export const requestedJobTables: readonly RequestedJobTable[] = [summaryJobs, translationJobs]
