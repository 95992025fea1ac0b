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

/** The data of a job that derives from a document. The worker reads the current source, not the source of the write. */
export type DocumentJob = {
  workspace_id: string
  document_id: string
  /** Derive all of it anew, not only what has changed. */
  rebuild?: boolean
}

/** The data of one step of a reindex. */
export type ReindexJob = {
  /** `outdated`: the documents that another tokeniser indexed. */
  documents: 'outdated' | 'all'
  knowledge_base_id: number | null
  /** The last document that was enqueued; null before the first step. */
  after: { workspace_id: string; document_id: string } | null
  /** The number of documents that the steps before have enqueued. */
  enqueued: number
}

/** The data of a requested job: the key of its row in the table of its kind. */
export type RequestedJobKey = { workspace_id: string; job_id: string }

/** A running job without a heartbeat for this time counts as given up. Advisory locks show a dead worker earlier. */
export const heartbeatSeconds = 10

const oneHour = 3600

/*
 * Workers hear of jobs through sql/queues/announcements.sql, which announces more than pg-boss's own `notify`. Jobs
 * that succeed are deleted by `completeAttempts` of workers/runtime/attempts.ts, so `deleteAfterSeconds` only says
 * how long failed jobs are kept.
 */

/**
 * `singleton` is the one policy that was measured never to lose the last write, if a write that joins the waiting job
 * locks the row of the job. The lock keeps a worker from claiming the job before the writer commits
 * (sql/queues/projection-jobs.sql).
 */
const projection: QueueOptions = {
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

/** A model works on a requested job for minutes. What the provider fails at is tried again after 10, 20 and 40 s. */
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

/** `exclusive` drops a sweep that comes due while the last sweep still waits or runs: the next sweep does its work. */
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

/** Every queue. Beside each of them lies its dead-letter queue (`deadLetterOf`). */
export const queues = {
  searchIndex: queue<DocumentJob>('search.index', projection),
  changesDiff: queue<DocumentJob>('changes.diff', projection),
  relationsExtract: queue<DocumentJob>('relations.extract', projection),
  candidatesRefresh: queue<DocumentJob>('candidates.refresh', { ...projection, retryLimit: 3 }),
  summariesRefresh: queue<DocumentJob>('summaries.refresh', { ...projection, retryLimit: 3 }),
  summariesModel: queue<RequestedJobKey>('summaries.model', requested),
  translationsRun: queue<RequestedJobKey>('translations.run', requested),
  searchReindex: queue<ReindexJob>('search.reindex', sweep),
  sweepSummaries: queue<object>('sweep.summaries', sweep),
  sweepStale: queue<object>('sweep.stale', sweep),
  sweepAttachments: queue<object>('sweep.attachments', sweep),
  sweepRetention: queue<object>('sweep.retention', sweep),
} as const

function queue<Data extends object>(name: string, options: QueueOptions): Queue<Data> {
  return { name, options }
}

/** The name of the queue that receives the jobs of `queue` whose retries are used up. */
export function deadLetterOf(queue: Queue<object>): string {
  return `${queue.name}.dead`
}
