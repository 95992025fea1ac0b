import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Job, JobResult } from 'pg-boss'
import { compute } from '../../shared/computations/compute.ts'
import { inTransaction, type Queryable, type Transaction } from '../../shared/database/database.ts'
import type { ProjectionComputation } from '../../shared/jobs/projections/computation.ts'
import {
  type Derived,
  type DocumentSource,
  lockSources,
  markCurrent,
  projectedSeqs,
  type StoredIn,
} from '../../shared/jobs/projections/queries.ts'
import { burstSeconds, scheduleAgain, unschedule } from '../../shared/jobs/projections/stale.ts'
import { type DocumentJob, largeOf, type Queue } from '../../shared/jobs/queues.ts'
import { onBehalfOf } from '../../shared/turns/requester.ts'
import { type Runtime, stopAll, type Worker } from './runtime.ts'
import { type AttemptEnd, completeAttempts, type JobOutcome, reportEnd, runAttempt, workOn } from './work.ts'

/**
 * A source of a document as it was loaded. `projected_seq` is the `body_seq` of the stored data at the load, null when
 * nothing is stored. A result may build on the stored data, so it is written only if these still have this `body_seq`.
 */
export type ProjectionSource = DocumentSource & { projected_seq: number | null }

/**
 * A projection: data that are derived from documents. `defineProjection` makes a worker of it, which calls the members
 * in the order in which they stand here, for a batch of different documents. Any member may throw: nothing is written
 * then, and pg-boss tries the job again. CONTRIBUTING.md has a complete example.
 */
export type Projection<Source extends ProjectionSource, Result> = {
  /** The name of the projection in `projections` of `shared/jobs/queues.ts`. */
  name: string
  queue: Queue<DocumentJob>
  /** The table whose rows are locked and compared before a result is written; null when `write` does so itself. */
  storedIn: StoredIn | null
  /** Reads the sources by document id, without locks. A document that is gone or not yet committed has no source. */
  load: (db: Queryable, jobs: readonly DocumentJob[]) => Promise<ReadonlyMap<string, Source>>
  /** Derives the result of one document, in a thread unless its `isSmall` says that the document is small. */
  compute: ProjectionComputation<Source, Result>
  /**
   * Tells, under the locks, whether the loaded and the current source give the same result. The comparison must cover
   * everything that the projection depends on and nothing more.
   */
  sameSource: (source: Source, current: DocumentSource) => boolean
  /** Tells whether a source is only the first part of what the stored data lack. Parts bound the memory of a round. */
  isPart?: (source: Source) => boolean
  /** Writes the results that may be written, of which there is at least one, in the order of document ids. */
  write: (tx: Transaction, derived: readonly Derived<Source, Result>[]) => Promise<void>
  /** Called last in the transaction with the documents that have nothing left to derive, deleted documents included. */
  announce?: (tx: Transaction, documentIds: readonly string[]) => Promise<void>
}

/** The largest number of rounds for a document before its job fails. */
const rounds = 3

/** The largest number of documents in a batch. */
const batchSize = 32

/**
 * Makes a worker of a projection. The first round is one transaction for a whole batch and waits for no writer. What is
 * left is derived document by document, in at most three rounds. Large documents have a queue of their own, and no
 * workspace may use all of its loops, so no large document holds up a small one.
 */
export function defineProjection<Source extends ProjectionSource, Result>(
  projection: Projection<Source, Result>,
): Worker {
  const { queue } = projection
  return {
    name: queue.name,
    async start(runtime) {
      const loops = Math.max(2, Math.floor(runtime.config.WORKER_CONCURRENCY / 2))
      const run = (jobs: readonly Job<DocumentJob>[], stopping: AbortSignal) =>
        deriveAll({ projection, runtime, stopping }, jobs)
      return stopAll([
        await workOn<DocumentJob>(runtime, { queue: queue.name, loops: 2, batchSize, run }),
        await workOn<DocumentJob>(runtime, { queue: largeOf(queue).name, loops, batchSize: 1, ofOneWorkspace: 1, run }),
      ])
    },
  }
}

/** A projection, and the process that derives it; `stopping` aborts when the process is to end. */
type Deriving<Source extends ProjectionSource, Result> = {
  projection: Projection<Source, Result>
  runtime: Runtime
  stopping: AbortSignal
}

// First derives a batch of different documents, in the order of their ids, then all jobs that are left.
async function deriveAll<Source extends ProjectionSource, Result>(
  deriving: Deriving<Source, Result>,
  jobs: readonly Job<DocumentJob>[],
): Promise<JobResult[]> {
  const different = [...new Map(jobs.map((job) => [job.data.document_id, job])).values()]
  const sorted = different.toSorted((a, b) => (a.data.document_id < b.data.document_id ? -1 : 1))
  const batch = sorted.length > 1 ? sorted : []
  const results = await deriveTogether(deriving, batch)
  const ended = new Set(results.map(({ id }) => id))
  for (const job of jobs) {
    if (!ended.has(job.id)) results.push(await deriveAlone(deriving, { job, firstRound: batch.includes(job) ? 2 : 1 }))
  }
  return results
}

// Returns the results of the jobs that have ended. All other jobs have to be derived again.
async function deriveTogether<Source extends ProjectionSource, Result>(
  deriving: Deriving<Source, Result>,
  jobs: readonly Job<DocumentJob>[],
): Promise<JobResult[]> {
  if (jobs.length === 0) return []
  const { runtime, projection } = deriving
  const { queue } = projection
  const start = performance.now()
  const ends = await deriveRound(deriving, { jobs, last: false }).catch((err): RoundEnds => {
    runtime.log.warn({ err, queue: queue.name, jobs: jobs.length }, 'jobs that failed together are run one by one')
    return new Map()
  })
  const ended = jobs.flatMap((job) => {
    const end = ends.get(job.id)
    if (end === undefined) return []
    return [settle(deriving, job, reportEnd(runtime, { queue, job, start, shared: jobs.length, end }))]
  })
  return Promise.all(ended)
}

async function deriveAlone<Source extends ProjectionSource, Result>(
  deriving: Deriving<Source, Result>,
  { job, firstRound }: { job: Job<DocumentJob>; firstRound: number },
): Promise<JobResult> {
  const { runtime, projection, stopping } = deriving
  const run = async () => {
    for (let round = firstRound; round <= rounds; round += 1) {
      const end = (await deriveRound(deriving, { jobs: [job], last: round === rounds })).get(job.id)
      if (end !== undefined) return end
    }
    throw new Error('the projection itself moved in every round')
  }
  return settle(deriving, job, await runAttempt(runtime, { queue: projection.queue, job, stopping, run }))
}

// When the last attempt has failed, the mark of the document loses its job, so that the next write sends a job.
async function settle<Source extends ProjectionSource, Result>(
  { projection: { name, queue }, runtime: { database, log } }: Deriving<Source, Result>,
  job: Job<DocumentJob>,
  { isLast, result }: { isLast: boolean; result: JobResult },
): Promise<JobResult> {
  if (!isLast) return result
  await unschedule(database, { projection: name, job }).catch((err) =>
    log.warn({ err, queue: queue.name, job_id: job.id }, 'the sweep has to find this document'),
  )
  return result
}

/** One round: jobs of different documents, and whether the round is the last. */
type Round = { jobs: readonly Job<DocumentJob>[]; last: boolean }

/** How jobs have ended, by their ids. Jobs that are left out have to be derived again. */
type RoundEnds = ReadonlyMap<string, AttemptEnd>

/**
 * Runs one round: load the sources, compute each result, then lock, judge and write in one transaction for all jobs. A
 * document that cannot be computed ends with its error and does not affect other documents. Rejects, with nothing
 * written, when the transaction fails, and with a `FencedError` when another attempt has one of the jobs.
 */
async function deriveRound<Source extends ProjectionSource, Result>(
  deriving: Deriving<Source, Result>,
  { jobs, last }: Round,
): Promise<RoundEnds> {
  const { projection, runtime } = deriving
  const keys = jobs.map(({ data }) => data)
  const sources = await projection.load(runtime.database, keys)
  const failed = new Map<string, AttemptEnd>()
  const derived = new Map<string, Derived<Source, Result> | 'large'>()
  for (const job of jobs) {
    const source = sources.get(job.data.document_id)
    if (source === undefined) continue
    const input = { source, job: job.data }
    // A write sends a large document to its queue itself, unless the document had a job from when it was small.
    const isMisplaced = job.name === projection.queue.name && !projection.compute.isSmall(input)
    try {
      derived.set(job.id, isMisplaced ? 'large' : { ...input, result: await computeOne(deriving, input) })
    } catch (error) {
      failed.set(job.id, { error })
    }
    // The other work of this process gets a turn after each document.
    await nextTurn()
  }
  const left = jobs.filter(({ id }) => !failed.has(id))
  if (left.length === 0) return failed
  const judging = { deriving, derived, jobs: left, last, alone: jobs.length === 1 }
  const ended = await inTransaction(runtime.database, (tx) => commit(tx, judging))
  return new Map([...failed, ...ended])
}

// Computes one result on behalf of the workspace, so that no workspace keeps those of others from the threads.
function computeOne<Source extends ProjectionSource, Result>(
  { projection, runtime }: Deriving<Source, Result>,
  input: { source: Source; job: DocumentJob },
): Promise<Result> {
  return onBehalfOf(input.job.workspace_id, () => compute(projection.compute, input), {
    mostMs: runtime.config.WORKER_COMPUTE_MS,
  })
}

// The transaction of a round. Locks are taken in one order: documents by id, the projection's rows, the marks of
// staleness, pg-boss's jobs.
async function commit<Source extends ProjectionSource, Result>(
  tx: Transaction,
  input: Round & {
    deriving: Deriving<Source, Result>
    derived: ReadonlyMap<string, Derived<Source, Result> | 'large'>
    alone: boolean
  },
): Promise<[string, { outcome: JobOutcome }][]> {
  const { deriving, derived, alone, last } = input
  const { projection, runtime } = deriving
  const { jobs } = runtime
  const keys = input.jobs.map(({ data }) => data)
  const sources = await lockSources(tx, keys, { wait: alone })
  const existing = keys.filter(({ document_id }) => sources.has(document_id))
  const { storedIn } = projection
  const seqs = storedIn === null ? null : await projectedSeqs(tx, existing, { ...storedIn, lock: true })
  const judged = input.jobs.map((job) => {
    const current = sources.get(job.data.document_id)
    const projected = seqs?.get(job.data.document_id) ?? null
    return { job, verdict: judge({ projection, derived: derived.get(job.id), current, projected, alone, last }) }
  })
  const those = (...verdicts: Verdict[]) => judged.filter(({ verdict }) => verdicts.includes(verdict)).map((j) => j.job)
  const keysOf = (...verdicts: Verdict[]) => those(...verdicts).map(({ data }) => data)
  await markCurrent(tx, { projection: projection.name, jobs: keysOf('current') })
  // The source has changed since the load, so the write that changed it left its work to this job.
  const behind = keysOf('behind', 'obsolete')
  await scheduleAgain({ tx, jobs }, { projection, jobs: behind, startAfter: burstSeconds })
  await scheduleAgain({ tx, jobs }, { projection, jobs: keysOf('large'), large: true })
  await completeAttempts(tx, { jobs, attempts: those('current', 'behind', 'obsolete', 'gone', 'large') })
  const written = those('current', 'behind').flatMap(({ id }) => {
    const one = derived.get(id)
    return one === undefined || one === 'large' ? [] : [one]
  })
  if (written.length > 0) await projection.write(tx, written)
  const over = keysOf('current', 'gone').map(({ document_id }) => document_id)
  if (over.length > 0) await projection.announce?.(tx, over)
  return judged.flatMap(({ job, verdict }) => (verdict === 'moved' ? [] : [[job.id, { outcome: verdict }]]))
}

type Verdict = JobOutcome | 'moved'

/**
 * Decides what becomes of one document, while the document and the projection's row are locked. `moved` means that the
 * document has to be derived again. The table in README.md explains every other verdict.
 */
function judge<Source extends ProjectionSource, Result>(input: {
  projection: Projection<Source, Result>
  /** Absent when `load` found no source. */
  derived: Derived<Source, Result> | 'large' | undefined
  /** The locked source. Absent when the document is gone or, in a round of several jobs, when a writer has it. */
  current: DocumentSource | undefined
  /** The `body_seq` of the stored data; null when nothing is stored. */
  projected: number | null
  alone: boolean
  last: boolean
}): Verdict {
  const { projection, derived, current, projected } = input
  if (current === undefined) return input.alone ? 'gone' : 'moved'
  // There was no source at the load, but there is one now: the first body of the document was still being committed.
  if (derived === undefined) return 'moved'
  if (derived === 'large') return 'large'
  const { source } = derived
  if (projected !== source.projected_seq) return 'moved'
  if (projection.isPart?.(source)) return 'behind'
  if (projection.sameSource(source, current)) return 'current'
  if (!input.last) return 'moved'
  return projected !== null && source.body_seq <= projected ? 'obsolete' : 'behind'
}
