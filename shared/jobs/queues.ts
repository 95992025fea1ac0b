import type { Queue as BossQueue } from 'pg-boss'

/** A queue of pg-boss and the type of the data its jobs carry. */
export type Queue<Data extends object> = {
  readonly name: string
  readonly options: QueueOptions
  /** Never set: it ties `Data` to the queue for the type checker. */
  readonly data?: Data
}

/** The options of a queue in pg-boss, such as its retries. All times are in seconds. */
export type QueueOptions = Omit<BossQueue, 'name'>

/** A part of a document that a write can change. */
export type DocumentChange = 'body' | 'title' | 'location' | 'locale'

/** A projection of documents, as far as a write has to know it. */
export type DocumentProjection = {
  /** The name of the projection in `stale_projections` and in the metrics of lag. */
  name: string
  /** The queue of the jobs that derive the projection. */
  queue: Queue<DocumentJob>
  /** The changes that make the projection of a document stale. */
  dependsOn: readonly DocumentChange[]
  /**
   * A table whose `workspace_id` and `document_id` name the documents that take part; without a table, all documents
   * take part.
   */
  enrolledIn?: string
}

/** The data of a job that derives from a document. The worker reads the current source, not the source of the write. */
export type DocumentJob = {
  workspace_id: string
  document_id: string
  /** Derive everything about the document anew, not only what has changed. */
  rebuild?: boolean
}

/** The data of one step of a reindex. */
export type ReindexJob = {
  /** `outdated`: the documents that an earlier version of the tokeniser indexed. */
  documents: 'outdated' | 'all'
  knowledge_base_id: number | null
  /** The last document that was enqueued; null before the first step. */
  after: { workspace_id: string; document_id: string } | null
  /** The number of documents that the steps before have enqueued. */
  enqueued: number
}

/** The data of a requested job: the key of its row in the table of its kind. */
export type RequestedJobKey = { workspace_id: string; job_id: string }

/**
 * A running job without a heartbeat for so many seconds counts as given up. Advisory locks show a dead worker earlier.
 */
export const heartbeatSeconds = 10

const oneHour = 3600

/*
 * Workers hear of jobs through sql/queues/announcements.sql, which announces more than pg-boss's own `notify`. Jobs
 * that succeed are deleted by `completeAttempts` of workers/runtime/attempts.ts, so `deleteAfterSeconds` only says
 * how long failed jobs are kept.
 */

/**
 * The options of the queues of projections. Of pg-boss's policies, only `singleton` never lost the last write when all
 * were measured. The policy requires that a write which joins the waiting job locks the row of the job. The lock keeps
 * a worker from claiming the job before the writer commits (sql/queues/projection-jobs.sql).
 */
const projectionOptions: QueueOptions = {
  policy: 'singleton',
  notify: false,
  heartbeatSeconds,
  expireInSeconds: 300,
  retryLimit: 5,
  retryDelay: 1,
  retryBackoff: true,
  retryDelayMax: 60,
  deleteAfterSeconds: oneHour,
}

/**
 * A model works on a requested job for minutes. A job at which the provider fails is tried again after 10, 20 and 40 s.
 */
const requested: QueueOptions = {
  policy: 'singleton',
  notify: false,
  heartbeatSeconds,
  expireInSeconds: 3600,
  retryLimit: 3,
  retryDelay: 10,
  retryBackoff: true,
  deleteAfterSeconds: oneHour,
}

/**
 * `exclusive` drops a sweep that comes due while the last sweep still waits or runs: the next sweep does the work of
 * the dropped sweep.
 */
const sweep: QueueOptions = {
  policy: 'exclusive',
  notify: false,
  heartbeatSeconds,
  expireInSeconds: 900,
  retryLimit: 3,
  retryDelay: 5,
  retryBackoff: true,
  deleteAfterSeconds: oneHour,
}

/**
 * Every queue. Beside each of them lies its dead-letter queue (`deadLetterOf`). The queue of a projection also declares
 * the projection: its name, and what makes it stale. `api/guide/jobs.md#derived-data` says the same to callers.
 */
export const queues = {
  searchIndex: projection('search.index', { name: 'search', dependsOn: ['body', 'title', 'location', 'locale'] }),
  changesDiff: projection('changes.diff', { name: 'changes', dependsOn: ['body'] }),
  relationsExtract: projection('relations.extract', { name: 'relations', dependsOn: ['body'] }),
  candidatesRefresh: projection(
    'candidates.refresh',
    { name: 'candidates', dependsOn: ['body', 'title'], enrolledIn: 'concept_extractions' },
    { retryLimit: 3 },
  ),
  summariesRefresh: projection(
    'summaries.refresh',
    { name: 'summaries', dependsOn: ['body', 'title'], enrolledIn: 'summaries' },
    { retryLimit: 3 },
  ),
  summariesModel: queue<RequestedJobKey>('summaries.model', requested),
  translationsRun: queue<RequestedJobKey>('translations.run', requested),
  searchReindex: queue<ReindexJob>('search.reindex', sweep),
  sweepSummaries: queue<object>('sweep.summaries', sweep),
  sweepStale: queue<object>('sweep.stale', sweep),
  sweepAttachments: queue<object>('sweep.attachments', sweep),
  sweepRetention: queue<object>('sweep.retention', sweep),
  sweepTrash: queue<object>('sweep.trash', sweep),
} as const

/**
 * All projections. Writes mark projections as stale by this table, so the code of documents and bodies imports no noun
 * that is derived from them.
 */
export const projections: readonly DocumentProjection[] = Object.values(queues).flatMap((queue) =>
  'projection' in queue ? [{ ...queue.projection, queue }] : [],
)

function queue<Data extends object>(name: string, options: QueueOptions): Queue<Data> {
  return { name, options }
}

function projection(
  name: string,
  declared: Omit<DocumentProjection, 'queue'>,
  options: QueueOptions = {},
): Queue<DocumentJob> & { readonly projection: Omit<DocumentProjection, 'queue'> } {
  return { ...queue<DocumentJob>(name, { ...projectionOptions, ...options }), projection: declared }
}

/** The name of the queue that receives the jobs of `queue` whose retries are used up. */
export function deadLetterOf(queue: Queue<object>): string {
  return `${queue.name}.dead`
}
