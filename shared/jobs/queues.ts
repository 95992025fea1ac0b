import { readdirSync, readFileSync } from 'node:fs'
import pg from 'pg'
import { type Queue as BossQueue, PgBoss } from 'pg-boss'
import { type Database, foreignStatements, type Transaction } from '../database/database.ts'

/** A queue and the data its jobs carry; `Data` exists for the types alone. */
export type Queue<Data extends object> = {
  readonly name: string
  readonly options: Omit<BossQueue, 'name'>
  readonly data?: Data
}

/** What a job of a document projection captures; the worker reads the current source anyway. */
export type DocumentJob = {
  workspace_id: string
  document_id: string
  /** Derive all of it anew, not only what has changed. */
  rebuild?: boolean
}

/** One step of a reindex: which documents it is about, the last one enqueued, and how many were so far. */
export type ReindexJob = {
  /** `outdated`: those that another tokeniser indexed. */
  documents: 'outdated' | 'all'
  knowledge_base_id: number | null
  after: { workspace_id: string; document_id: string } | null
  enqueued: number
}

/** A job that somebody asked for: the row that says how it stands, in the table of its kind. */
export type RequestedJobKey = { workspace_id: string; job_id: string }

/** A running job of which nothing is heard for so long counts as given up, in seconds. */
export const heartbeatSeconds = 10

// `singleton` with upsert is the one policy that was measured never to lose the last write (decisions B4): upsert
// updates the queued row, and its lock keeps a worker from claiming the job before the writer commits.
// A worker that dies is noticed after one missed heartbeat. Workers hear of jobs through sql/queues/announcements.sql,
// which announces more than pg-boss's own `notify`. Finished jobs are deleted by completeAttempts of workers/runtime/job-worker.ts;
// `deleteAfterSeconds` is for how long those are kept that failed.
const projection: Omit<BossQueue, 'name'> = {
  policy: 'singleton',
  notify: false,
  heartbeatSeconds,
  expireInSeconds: 300,
  retryLimit: 5,
  retryDelay: 1,
  retryBackoff: true,
  retryDelayMax: 60,
  deleteAfterSeconds: 3600,
}

// A job that somebody waits for: a model works on it for minutes, and what the provider fails at is tried again after
// 10, 20 and 40 seconds (decisions B).
const requestedJob: Omit<BossQueue, 'name'> = {
  policy: 'singleton',
  notify: false,
  heartbeatSeconds,
  expireInSeconds: 3600,
  retryLimit: 3,
  retryDelay: 10,
  retryBackoff: true,
  deleteAfterSeconds: 3600,
}

// A sweep that is due while the last one still waits or runs may be dropped: the next one does its work.
const sweep: Omit<BossQueue, 'name'> = {
  policy: 'exclusive',
  notify: false,
  heartbeatSeconds,
  expireInSeconds: 900,
  retryLimit: 3,
  retryDelay: 5,
  retryBackoff: true,
  deleteAfterSeconds: 3600,
}

/** Every queue; each has a dead-letter queue `<name>.dead` beside it. */
export const queues = {
  searchIndex: { name: 'search.index', options: projection } as Queue<DocumentJob>,
  changesDiff: { name: 'changes.diff', options: projection } as Queue<DocumentJob>,
  relationsExtract: { name: 'relations.extract', options: projection } as Queue<DocumentJob>,
  candidatesRefresh: { name: 'candidates.refresh', options: { ...projection, retryLimit: 3 } } as Queue<DocumentJob>,
  summariesRefresh: { name: 'summaries.refresh', options: { ...projection, retryLimit: 3 } } as Queue<DocumentJob>,
  summariesModel: { name: 'summaries.model', options: requestedJob } as Queue<RequestedJobKey>,
  translationsRun: { name: 'translations.run', options: requestedJob } as Queue<RequestedJobKey>,
  searchReindex: { name: 'search.reindex', options: sweep } as Queue<ReindexJob>,
  sweepSummaries: { name: 'sweep.summaries', options: sweep } as Queue<object>,
  sweepStale: { name: 'sweep.stale', options: sweep } as Queue<object>,
  sweepAttachments: { name: 'sweep.attachments', options: sweep } as Queue<object>,
  sweepRetention: { name: 'sweep.retention', options: sweep } as Queue<object>,
} as const

/** What of a document changed; a projection is recomputed when it depends on that. */
export type DocumentChange = 'body' | 'title' | 'location' | 'locale'

/** Something that derives from documents. */
export type DocumentProjection = {
  name: string
  queue: Queue<DocumentJob>
  dependsOn: readonly DocumentChange[]
  /** The table whose workspace_id and document_id say which documents take part; without it all do. */
  enrolledIn?: string
}

/**
 * What derives from documents: the one place that says which projection a change makes stale and which queue catches
 * up. The core writes through this table and imports no derived noun.
 */
export const projections: readonly DocumentProjection[] = [
  { name: 'search', queue: queues.searchIndex, dependsOn: ['body', 'title', 'location', 'locale'] },
  { name: 'changes', queue: queues.changesDiff, dependsOn: ['body'] },
  { name: 'relations', queue: queues.relationsExtract, dependsOn: ['body'] },
  {
    name: 'candidates',
    queue: queues.candidatesRefresh,
    dependsOn: ['body', 'title'],
    enrolledIn: 'concept_extractions',
  },
  { name: 'summaries', queue: queues.summariesRefresh, dependsOn: ['body', 'title'], enrolledIn: 'summaries' },
]

/** A table of jobs that people asked for; shared/jobs/requested/README.md lists the columns all of them have. */
export type RequestedJobTable = {
  name: string
  queue: Queue<RequestedJobKey>
  /** Columns with ids of documents: a change of such a body makes an open job obsolete. */
  changed: readonly string[]
  /** Columns with ids of what a job is about, by kind: its deletion makes an open job obsolete. */
  deleted: { documents: readonly string[]; folders: readonly string[]; knowledgeBases: readonly string[] }
  /** The words of its `obsolete_reason`. */
  reasons: { changed: string; deleted: string }
}

/** Every kind of job that people ask for. The core ends jobs through this table and imports no derived noun. */
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

/** The table of the jobs that a queue carries. */
export function requestedJobTableOf(queue: Queue<RequestedJobKey>): RequestedJobTable {
  const table = requestedJobTables.find((candidate) => candidate.queue === queue)
  if (table === undefined) throw new Error(`${queue.name} is not a queue of jobs that people ask for`)
  return table
}

/** Name of the queue that receives the jobs of `queue` once their retries are used up. */
export function deadLetterOf(queue: Queue<object>): string {
  return `${queue.name}.dead`
}

/** pg-boss as a process that only sends uses it: on the service's own pool, so that jobs join its transactions. */
export type Jobs = { boss: PgBoss; stop: () => Promise<void> }

/**
 * Starts the sending side of the queue. Queues must exist (see `installQueues`). Statements of pg-boss run on the
 * given pool, so forgetting to pass the transaction is an error instead of a job that survives a rollback.
 */
export async function openJobs(options: { database: Database; onError: (error: Error) => void }): Promise<Jobs> {
  const boss = new PgBoss({
    db: foreignStatements(options.database),
    migrate: false,
    supervise: false,
    schedule: false,
    useListenNotify: false,
    queueCacheIntervalSeconds,
  })
  boss.on('error', options.onError)
  await boss.start()
  // Fills the queue cache: a look-up inside a transaction would need a second connection.
  await boss.getQueues()
  return { boss, stop: () => boss.stop({ graceful: false }) }
}

/** What pg-boss remembers of a queue, its table and policy, changes with a new version of the service alone. */
export const queueCacheIntervalSeconds = 3600

/** How long the jobs behind the first write of a burst are held back to become one, in seconds. */
const coalescingSeconds = 0.5

/**
 * Enqueues a projection's jobs in the write's own transaction. Must be the last thing before commit: writers of the
 * same key wait for each other from here on.
 *
 * One document: after a quiet moment the job starts at once; a burst of writes behind it becomes one more job, which is
 * never pushed further away, so constant writing cannot starve it. Many documents at once are inserted in one
 * statement, without looking for queued jobs to merge with: a superfluous job finds nothing to do. Jobs `behindOthers`
 * are fetched when there are no other jobs, so that a bulk import of one workspace does not hold up the rest.
 */
export async function enqueueDocuments(
  context: { tx: Transaction; jobs: Jobs },
  request: { queue: Queue<DocumentJob>; jobs: readonly (DocumentJob & { quiet: boolean })[]; behindOthers?: boolean },
): Promise<void> {
  const { boss } = context.jobs
  const { name } = request.queue
  const db = foreignStatements(context.tx)
  const priority = request.behindOthers ? -1 : 0
  const jobs = request.jobs.map(({ quiet: _, ...data }) => ({ data, singletonKey: data.document_id, priority }))
  const [only, ...others] = jobs
  if (only === undefined) return
  if (others.length > 0) {
    await boss.insert(name, jobs, { db })
    return
  }
  const quiet = request.jobs[0]?.quiet ?? false
  const options = { db, singletonKey: only.singletonKey }
  if (!quiet) {
    const { updated } = await boss.update(name, only.data, options)
    if (updated > 0) return
  }
  await boss.upsert(name, only.data, { ...options, priority, startAfter: quiet ? 0 : coalescingSeconds })
}

// Queues of earlier versions; their schedules go with them.
const retiredQueues = ['sweep.document-counts', 'sweep.document-counts.dead']
const queueFiles = new URL('../../sql/queues/', import.meta.url)

/**
 * Installs or upgrades pg-boss's schema and creates every queue with its dead-letter queue; safe to repeat, and for
 * several hosts at once, which wait for each other.
 */
export async function installQueues(url: string): Promise<void> {
  const guard = new pg.Client(url)
  await guard.connect()
  try {
    await guard.query(`SELECT pg_advisory_lock(hashtextextended('install-queues', 0))`)
    await installAlone(url)
  } finally {
    await guard.end()
  }
}

async function installAlone(url: string): Promise<void> {
  const boss = new PgBoss({ connectionString: url, max: 2, supervise: false, schedule: false })
  const errors: Error[] = []
  boss.on('error', (error) => errors.push(error))
  await boss.start()
  try {
    for (const queue of Object.values(queues)) {
      await boss.createQueue(deadLetterOf(queue), { retryLimit: 0, deleteAfterSeconds: 30 * 86_400 })
      await boss.createQueue(queue.name, { ...queue.options, deadLetter: deadLetterOf(queue) })
      const { policy: _immutable, partition: _fixed, ...changeable } = queue.options
      await boss.updateQueue(queue.name, { ...changeable, deadLetter: deadLetterOf(queue) })
    }
    for (const name of retiredQueues) await boss.deleteQueue(name)
    for (const file of readdirSync(queueFiles).sort()) {
      await boss.getDb().executeSql(readFileSync(new URL(file, queueFiles), 'utf8'))
    }
  } finally {
    await boss.stop({ graceful: false })
  }
  if (errors.length > 0) throw new Error('pg-boss could not be installed', { cause: errors[0] })
}
