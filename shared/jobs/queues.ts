import type { Queue as BossQueue } from 'pg-boss'

export type Queue<Data extends object> = {
  readonly name: string
  readonly options: QueueOptions
  /** Never set: it ties `Data` to the queue for the type checker. */
  readonly data?: Data
}

/** The options of a queue in pg-boss, such as its retries. All times are in seconds. */
export type QueueOptions = Omit<BossQueue, 'name'>

export type DocumentChange = 'body' | 'title' | 'location' | 'locale'

/** A projection of documents, as far as a write has to know it. */
export type DocumentProjection = {
  /** The name of the projection in `stale_projections` and in the metrics of lag. */
  name: string
  queue: Queue<DocumentJob>
  /** The changes that make the projection of a document stale. */
  dependsOn: readonly DocumentChange[]
  /** A table that names the documents that take part; without a table, all documents take part. */
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
 * What all queues have in common. A running job without a heartbeat for ten seconds counts as given up. Jobs that
 * succeed are deleted with their result, so only failed jobs and sweeps are kept for an hour.
 */
const common: QueueOptions = {
  notify: true,
  heartbeatSeconds: 10,
  retryLimit: 3,
  retryBackoff: true,
  deleteAfterSeconds: 3600,
}

const projectionOptions: QueueOptions = {
  ...common,
  expireInSeconds: 300,
  retryLimit: 5,
  retryDelay: 1,
  retryDelayMax: 60,
}

/**
 * A model works on a requested job for minutes. Retries follow after 10, 20, 40 and then 60 s. A failure of the model
 * is tried again three times at most; further retries are for processes that die.
 */
const requested: QueueOptions = { ...common, expireInSeconds: 3600, retryLimit: 6, retryDelay: 10, retryDelayMax: 60 }

/** `exclusive` drops a sweep that comes due while the last sweep still waits or runs. */
const sweep: QueueOptions = { ...common, policy: 'exclusive', expireInSeconds: 900, retryDelay: 5 }

/** Dead letters wait for an operator. */
const deadLetterOptions: QueueOptions = { ...common, retryLimit: 0, deleteAfterSeconds: 30 * 86_400 }

/**
 * Every queue. Beside each of them lies its dead-letter queue (`deadLetterOf`), and beside the queue of a projection
 * the queue of its large documents (`largeOf`). The queue of a projection also declares the projection: its name, and
 * what makes it stale. `api/guide/jobs.md#derived-data` says the same to callers.
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

/** All projections. Writes mark them as stale by this table, so the code of documents imports no derived noun. */
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

/** The queue of the jobs of large documents, which workers derive one by one. */
export function largeOf(queue: Queue<DocumentJob>): Queue<DocumentJob> {
  return { name: `${queue.name}.large`, options: queue.options }
}

/** All queues of pg-boss that the service has, each dead-letter queue before the queues whose jobs it receives. */
export function allQueues(): readonly { name: string; options: QueueOptions }[] {
  return Object.values(queues).flatMap((queue) => {
    const deadLetter = deadLetterOf(queue)
    const siblings = 'projection' in queue ? [queue, largeOf(queue)] : [queue]
    return [
      { name: deadLetter, options: deadLetterOptions },
      ...siblings.map(({ name, options }) => ({ name, options: { ...options, deadLetter } })),
    ]
  })
}
