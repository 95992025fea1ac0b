import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Job } from 'pg-boss'
import { compute } from '../../shared/computations/compute.ts'
import { inTransaction, type Transaction } from '../../shared/database/database.ts'
import type { JobOutcome } from '../../shared/jobs/outcomes.ts'
import { announceCurrent, transactionIdOf } from '../../shared/jobs/projections/announcements.ts'
import type { ProjectionInput } from '../../shared/jobs/projections/computation.ts'
import { type Derived, type DocumentSource, lockSources, markCurrent } from '../../shared/jobs/projections/queries.ts'
import { burstSeconds, scheduleAgain } from '../../shared/jobs/projections/stale.ts'
import { type DocumentJob, largeOf, type Queue } from '../../shared/jobs/queues.ts'
import { onBehalfOf } from '../../shared/turns/requester.ts'
import type { Projection, ProjectionHooks, ProjectionSource } from './projection.ts'
import type { AttemptEnd } from './report.ts'
import type { Runtime } from './runtime.ts'
import { completeAttempts } from './work.ts'

/** A projection and the process that derives it. */
export type Deriving<Source extends ProjectionSource, Result> = {
  projection: Projection<Source, Result>
  hooks: ProjectionHooks
  runtime: Runtime
}

/** One round: jobs of different documents, and whether the round is the last. */
export type Round = { jobs: readonly Job<DocumentJob>[]; last: boolean }

/**
 * The result of a round: how jobs have ended, by their ids. `again` means that the attempt is over and another job of
 * the document has been sent, because the document is large or only its first part is written. Jobs that are left out
 * have to be derived again.
 */
export type RoundEnds = ReadonlyMap<string, AttemptEnd | 'again'>

/**
 * Runs one round: load the sources, compute each result, then lock, judge and write in one transaction for all jobs.
 *
 * A document that cannot be computed ends with its error and does not affect other documents. A round of several jobs
 * waits for no writer: a document that is locked has to be derived again. Rejects, with nothing written, when the
 * transaction fails, and with a `FencedError` when another attempt has one of the jobs.
 */
export async function deriveRound<Source extends ProjectionSource, Result>(
  context: Deriving<Source, Result>,
  round: Round,
): Promise<RoundEnds> {
  const { projection, hooks, runtime } = context
  const sources = await projection.load(
    runtime.database,
    round.jobs.map(({ data }) => data),
  )
  const ends = new Map<string, AttemptEnd | 'again'>()
  const large = round.jobs.filter((job) => {
    const source = sources.get(job.data.document_id)
    const isSmall = source === undefined || projection.compute.isSmall({ source, job: job.data })
    return !isSmall && !isOfLargeQueue(projection, job)
  })
  if (large.length > 0) await inTransaction(runtime.database, (tx) => sendToLarge(tx, context, large))
  for (const { id } of large) ends.set(id, 'again')
  const derived = new Map<string, Derived<Source, Result>>()
  for (const { id, data: job } of round.jobs) {
    const source = sources.get(job.document_id)
    if (source === undefined || ends.has(id)) continue
    try {
      derived.set(id, { job, source, result: await computeOne(context, { source, job }) })
    } catch (error) {
      ends.set(id, { error })
    }
    // The other work of this process gets a turn after each document.
    await nextTurn()
  }
  const jobs = round.jobs.filter(({ id }) => !ends.has(id))
  for (const { data } of jobs) await hooks.beforeCommit?.(data)
  if (jobs.length === 0) return ends
  const alone = round.jobs.length === 1
  const committed = await inTransaction(runtime.database, (tx) =>
    commit(tx, { context, round: { ...round, jobs, alone }, derived }),
  )
  await announce(context, { ...committed, jobs })
  return new Map([...ends, ...committed.ends])
}

function isOfLargeQueue({ queue }: { queue: Queue<DocumentJob> }, job: Job<DocumentJob> | undefined): boolean {
  return job?.name === largeOf(queue).name
}

// Sends jobs to the queue of large documents, in place of the given attempts.
async function sendToLarge<Source extends ProjectionSource, Result>(
  tx: Transaction,
  { projection, runtime: { jobs } }: Deriving<Source, Result>,
  attempts: readonly Job<DocumentJob>[],
): Promise<void> {
  await scheduleAgain({ tx, jobs }, { projection, jobs: attempts.map(({ data }) => data), large: true })
  await completeAttempts(tx, { jobs, attempts })
}

// Computes one result on behalf of the workspace, so that no workspace keeps those of others from the threads.
function computeOne<Source extends ProjectionSource, Result>(
  { projection, runtime }: Deriving<Source, Result>,
  input: ProjectionInput<Source>,
): Promise<Result> {
  return onBehalfOf(input.job.workspace_id, () => compute(projection.compute, input), {
    mostMs: runtime.config.WORKER_COMPUTE_MS,
  })
}

/** What the transaction of a round did. `transactionId` is null where the projection is not announced. */
type Committed = { ends: ReadonlyMap<string, { outcome: JobOutcome } | 'again'>; transactionId: bigint | null }

// The transaction of a round. Locks are taken in one order: documents by id, the projection's rows, the marks of
// staleness, pg-boss's jobs.
async function commit<Source extends ProjectionSource, Result>(
  tx: Transaction,
  input: {
    context: Deriving<Source, Result>
    round: Round & { alone: boolean }
    derived: ReadonlyMap<string, Derived<Source, Result>>
  },
): Promise<Committed> {
  const { context, round, derived } = input
  const { projection } = context
  const { jobs } = context.runtime
  const keys = round.jobs.map(({ data }) => data)
  const sources = await lockSources(tx, keys, { wait: round.alone })
  const seqs = await projection.projectedSeqs(
    tx,
    keys.filter(({ document_id }) => sources.has(document_id)),
  )
  const judged = round.jobs.map((job) => {
    const current = sources.get(job.data.document_id)
    const projected = seqs.get(job.data.document_id) ?? null
    return { job, verdict: judge({ projection, derived: derived.get(job.id), current, projected, ...round }) }
  })
  const those = (...verdicts: Verdict[]) =>
    judged.flatMap(({ job, verdict }) => (verdicts.includes(verdict) ? job : []))
  await markCurrent(tx, { projection: projection.name, jobs: those('current').map(({ data }) => data) })
  // The source has changed since the load, so the write that changed it left its work to this job.
  const behind = those('behind', 'obsolete').map(({ data }) => data)
  const large = isOfLargeQueue(projection, round.jobs[0])
  await scheduleAgain({ tx, jobs }, { projection, jobs: behind, large, startAfter: burstSeconds })
  await sendToLarge(tx, context, those('begun'))
  await completeAttempts(tx, { jobs, attempts: those('current', 'behind', 'obsolete', 'gone') })
  const written = those('current', 'behind', 'begun').flatMap((job) => derived.get(job.id) ?? [])
  if (written.length > 0) await projection.write(tx, written)
  const transactionId = projection.isAnnounced ? await transactionIdOf(tx) : null
  const ended = judged.flatMap(({ job, verdict }) =>
    verdict === 'moved' ? [] : [[job.id, verdict === 'begun' ? 'again' : { outcome: verdict }] as const],
  )
  return { ends: new Map(ended), transactionId }
}

// Announces the documents with nothing left to derive. The round is committed already, so a failure here fails no job.
async function announce<Source extends ProjectionSource, Result>(
  { projection, runtime }: Deriving<Source, Result>,
  { ends, transactionId, jobs }: Committed & { jobs: readonly Job<DocumentJob>[] },
): Promise<void> {
  const isOver = ({ id }: Job<DocumentJob>) => {
    const end = ends.get(id)
    return end !== undefined && end !== 'again' && (end.outcome === 'current' || end.outcome === 'gone')
  }
  const documentIds = jobs.filter(isOver).map(({ data }) => data.document_id)
  if (transactionId === null || documentIds.length === 0) return
  const { name } = projection
  try {
    await announceCurrent(runtime.database, { projection: name, transactionId, documentIds })
  } catch (err) {
    runtime.log.warn({ err, queue: projection.queue.name }, 'readers were not told that documents are current')
  }
}

type Verdict = JobOutcome | 'moved' | 'begun'

/**
 * Decides what becomes of one document, while the document and the projection's row are locked. `moved` means that the
 * document has to be derived again, and `begun` that the result is only the first part. The table in
 * shared/jobs/outcomes.ts explains every other verdict.
 */
function judge<Source extends ProjectionSource, Result>(input: {
  projection: Projection<Source, Result>
  /** Absent when `load` found no source. */
  derived: Derived<Source, Result> | undefined
  /**
   * The locked source. The source is absent when the document is gone or, in a round of several jobs, when a writer has
   * locked the document.
   */
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
  if (projected === derived.source.projected_seq && projection.isPart?.(derived.source)) return 'begun'
  const same = projection.sameSource(derived.source, current)
  if (projected !== derived.source.projected_seq || (!same && !input.last)) return 'moved'
  if (!same && projected !== null && derived.source.body_seq <= projected) return 'obsolete'
  return same ? 'current' : 'behind'
}
