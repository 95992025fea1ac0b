import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Job } from 'pg-boss'
import { compute } from '../../shared/computations/compute.ts'
import { inTransaction, type Queryable, type Transaction } from '../../shared/database/database.ts'
import type { JobOutcome } from '../../shared/jobs/outcomes.ts'
import { announceCurrent, transactionIdOf } from '../../shared/jobs/projections/announcements.ts'
import type { ProjectionComputation } from '../../shared/jobs/projections/computation.ts'
import {
  type Derived,
  type DocumentSource,
  lockSources,
  markCurrent,
  projectedSeqs,
  type StoredIn,
} from '../../shared/jobs/projections/queries.ts'
import { burstSeconds, scheduleAgain } from '../../shared/jobs/projections/stale.ts'
import { type DocumentJob, largeOf, type Queue } from '../../shared/jobs/queues.ts'
import { onBehalfOf } from '../../shared/turns/requester.ts'
import type { Runtime } from './runtime.ts'
import { type AttemptEnd, completeAttempts, replaceAttempt } from './work.ts'

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
  /** Whether readers wait until the projection is current, so that every round is announced to them. */
  isAnnounced?: true
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
}

/** A projection and the process that derives it. */
export type Deriving<Source extends ProjectionSource, Result> = {
  projection: Projection<Source, Result>
  runtime: Runtime
}

/** One round: jobs of different documents, and whether the round is the last. */
type Round = { jobs: readonly Job<DocumentJob>[]; last: boolean }

/**
 * How jobs have ended, by their ids. `again` means that the job was moved to the queue of large documents. Jobs that
 * are left out have to be derived again.
 */
type RoundEnds = ReadonlyMap<string, AttemptEnd | 'again'>

/**
 * Runs one round: load the sources, compute each result, then lock, judge and write in one transaction for all jobs.
 *
 * A document that cannot be computed ends with its error and does not affect other documents. A round of several jobs
 * waits for no writer: a document that is locked has to be derived again. Rejects, with nothing written, when the
 * transaction fails, and with a `FencedError` when another attempt has one of the jobs.
 */
export async function deriveRound<Source extends ProjectionSource, Result>(
  deriving: Deriving<Source, Result>,
  round: Round,
): Promise<RoundEnds> {
  const { projection, runtime } = deriving
  const keys = round.jobs.map(({ data }) => data)
  const sources = await projection.load(runtime.database, keys)
  const ends = new Map<string, AttemptEnd | 'again'>()
  const derived = new Map<string, Derived<Source, Result>>()
  for (const job of round.jobs) {
    const source = sources.get(job.data.document_id)
    if (source === undefined) continue
    const input = { source, job: job.data }
    try {
      if (job.name !== largeOf(projection.queue).name && !projection.compute.isSmall(input)) {
        await moveToLarge(deriving, job)
        ends.set(job.id, 'again')
      } else derived.set(job.id, { ...input, result: await computeOne(deriving, input) })
    } catch (error) {
      ends.set(job.id, { error })
    }
    // The other work of this process gets a turn after each document.
    await nextTurn()
  }
  const jobs = round.jobs.filter(({ id }) => !ends.has(id))
  if (jobs.length === 0) return ends
  const alone = round.jobs.length === 1
  const committed = await inTransaction(runtime.database, (tx) =>
    commit(tx, { deriving, round: { ...round, jobs, alone }, derived }),
  )
  await announce(deriving, { ...committed, jobs })
  return new Map([...ends, ...committed.ends])
}

// A write sends a large document to this queue itself, unless the document had a waiting job from when it was small.
function moveToLarge<Source extends ProjectionSource, Result>(
  { projection, runtime }: Deriving<Source, Result>,
  job: Job<DocumentJob>,
): Promise<void> {
  const again = { projection, jobs: [job.data], large: true } as const
  return replaceAttempt(runtime, { job, send: (tx) => scheduleAgain({ tx, jobs: runtime.jobs }, again) })
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

/** What the transaction of a round did. `transactionId` is null where the projection is not announced. */
type Committed = { ends: ReadonlyMap<string, { outcome: JobOutcome }>; transactionId: bigint | null }

// The transaction of a round. Locks are taken in one order: documents by id, the projection's rows, the marks of
// staleness, pg-boss's jobs.
async function commit<Source extends ProjectionSource, Result>(
  tx: Transaction,
  input: {
    deriving: Deriving<Source, Result>
    round: Round & { alone: boolean }
    derived: ReadonlyMap<string, Derived<Source, Result>>
  },
): Promise<Committed> {
  const { deriving, round, derived } = input
  const { projection, runtime } = deriving
  const { jobs } = runtime
  const keys = round.jobs.map(({ data }) => data)
  const sources = await lockSources(tx, keys, { wait: round.alone })
  const existing = keys.filter(({ document_id }) => sources.has(document_id))
  const { storedIn } = projection
  const seqs = storedIn === null ? null : await projectedSeqs(tx, existing, { ...storedIn, lock: true })
  const judged = round.jobs.map((job) => {
    const current = sources.get(job.data.document_id)
    const projected = seqs?.get(job.data.document_id) ?? null
    return { job, verdict: judge({ projection, derived: derived.get(job.id), current, projected, ...round }) }
  })
  const those = (...verdicts: Verdict[]) => judged.filter(({ verdict }) => verdicts.includes(verdict)).map((j) => j.job)
  await markCurrent(tx, { projection: projection.name, jobs: those('current').map(({ data }) => data) })
  // The source has changed since the load, so the write that changed it left its work to this job.
  const behind = those('behind', 'obsolete').map(({ data }) => data)
  await scheduleAgain({ tx, jobs }, { projection, jobs: behind, startAfter: burstSeconds })
  await completeAttempts(tx, { jobs, attempts: those('current', 'behind', 'obsolete', 'gone') })
  const written = those('current', 'behind').flatMap((job) => derived.get(job.id) ?? [])
  if (written.length > 0) await projection.write(tx, written)
  const transactionId = projection.isAnnounced ? await transactionIdOf(tx) : null
  const ended = judged.flatMap(({ job, verdict }) =>
    verdict === 'moved' ? [] : [[job.id, { outcome: verdict }] as const],
  )
  return { ends: new Map(ended), transactionId }
}

// Announces the documents with nothing left to derive. The round is committed already, so a failure here fails no job.
async function announce<Source extends ProjectionSource, Result>(
  { projection, runtime }: Deriving<Source, Result>,
  { ends, transactionId, jobs }: Committed & { jobs: readonly Job<DocumentJob>[] },
): Promise<void> {
  const over = jobs.filter(({ id }) => ['current', 'gone'].includes(ends.get(id)?.outcome ?? ''))
  if (transactionId === null || over.length === 0) return
  const documentIds = over.map(({ data }) => data.document_id)
  try {
    await announceCurrent(runtime.database, { projection: projection.name, transactionId, documentIds })
  } catch (err) {
    runtime.log.warn({ err, queue: projection.queue.name }, 'readers were not told that documents are current')
  }
}

type Verdict = JobOutcome | 'moved'

/**
 * Decides what becomes of one document, while the document and the projection's row are locked. `moved` means that the
 * document has to be derived again. The table in shared/jobs/outcomes.ts explains every other verdict.
 */
function judge<Source extends ProjectionSource, Result>(input: {
  projection: Projection<Source, Result>
  /** Absent when `load` found no source. */
  derived: Derived<Source, Result> | undefined
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
  const { source } = derived
  if (projected !== source.projected_seq) return 'moved'
  if (projection.isPart?.(source)) return 'behind'
  if (projection.sameSource(source, current)) return 'current'
  if (!input.last) return 'moved'
  return projected !== null && source.body_seq <= projected ? 'obsolete' : 'behind'
}
