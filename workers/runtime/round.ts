import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Job } from 'pg-boss'
import { compute } from '../../shared/computations/compute.ts'
import { inTransaction, type Transaction } from '../../shared/database/database.ts'
import type { JobOutcome } from '../../shared/jobs/outcomes.ts'
import { announceCurrent, transactionIdOf } from '../../shared/jobs/projections/announcements.ts'
import type { ProjectionInput } from '../../shared/jobs/projections/computation.ts'
import { type Derived, type DocumentSource, lockSources } from '../../shared/jobs/projections/queries.ts'
import type { DocumentJob } from '../../shared/jobs/queues.ts'
import { onBehalfOf } from '../../shared/turns/requester.ts'
import { completeAttempts } from './attempts.ts'
import type { Part } from './job-queries.ts'
import type { Projection, ProjectionHooks, ProjectionSource } from './projection.ts'
import type { AttemptEnd } from './report.ts'
import type { Runtime } from './runtime.ts'

/** A projection and the process that derives it. */
export type Deriving<Source extends ProjectionSource, Result> = {
  projection: Projection<Source, Result>
  hooks: ProjectionHooks
  runtime: Runtime
}

/** One round: jobs of different documents, the part of the queue they come from, and whether the round is the last. */
export type Round = { jobs: readonly Job<DocumentJob>[]; part: Part; last: boolean }

/**
 * A result of a round. `ends` says by job id how jobs have ended. The jobs in `large` go on in the part `large` of the
 * queue, because their document is large or only its first part is written. All other jobs have to be derived again.
 */
export type RoundEnd = { ends: ReadonlyMap<string, AttemptEnd>; large: readonly Job<DocumentJob>[] }

/**
 * Runs one round: load the sources, compute each result, then lock, judge and write in one transaction for all jobs.
 *
 * A document that cannot be computed ends with its error and does not affect other documents. A round of several jobs
 * waits for no writer: a document that is locked has to be derived again. Rejects, with nothing written, when the
 * transaction fails.
 */
export async function deriveRound<Source extends ProjectionSource, Result>(
  context: Deriving<Source, Result>,
  round: Round,
): Promise<RoundEnd> {
  const { projection, hooks, runtime } = context
  const sources = await projection.load(
    runtime.database,
    round.jobs.map(({ data }) => data),
  )
  const isLarge = ({ data: job }: Job<DocumentJob>) => {
    const source = sources.get(job.document_id)
    return source !== undefined && !projection.compute.isSmall({ source, job })
  }
  const large = round.part === 'small' ? round.jobs.filter(isLarge) : []
  const taken = round.jobs.filter((job) => !large.includes(job))
  const derived = new Map<string, Derived<Source, Result>>()
  const failed = new Map<string, AttemptEnd>()
  for (const { id, data: job } of taken) {
    const source = sources.get(job.document_id)
    if (source === undefined) continue
    try {
      derived.set(id, { job, source, result: await computeOne(context, { source, job }) })
    } catch (error) {
      failed.set(id, { error })
    }
    // The other work of this process gets a turn after each document.
    await nextTurn()
  }
  for (const { data } of taken) await hooks.beforeCommit?.(data)
  const jobs = taken.filter(({ id }) => !failed.has(id))
  if (jobs.length === 0) return { ends: failed, large }
  const committed = await inTransaction(runtime.database, (tx) =>
    commit(tx, { context, round: { ...round, jobs, alone: round.jobs.length === 1 }, derived }),
  )
  const { outcomes, begun } = committed
  await announce(context, { ...committed, jobs })
  const ends = new Map([...failed, ...Array.from(outcomes, ([id, outcome]) => [id, { outcome }] as const)])
  return { ends, large: [...large, ...begun] }
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
type Committed = {
  outcomes: ReadonlyMap<string, JobOutcome>
  begun: readonly Job<DocumentJob>[]
  transactionId: bigint | null
}

// The transaction of a round. Locks are taken in one order: documents by id, the projection's rows, pg-boss's jobs.
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
  const { queue } = projection
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
  const begun = judged.filter(({ verdict }) => verdict === 'begun').map(({ job }) => job)
  const ends = judged.flatMap(({ job, verdict }) =>
    verdict === 'moved' || verdict === 'begun' ? [] : [{ job, outcome: verdict }],
  )
  const current = ends.filter(({ outcome }) => outcome === 'current').map(({ job }) => [job.id, job.data] as const)
  const completed = await completeAttempts(tx, {
    queue,
    jobs: ends.map(({ job }) => job),
    current: { projection: projection.name, jobs: new Map(current) },
  })
  const isWritten = ({ job, outcome }: (typeof ends)[number]) =>
    completed.has(job.id) && (outcome === 'current' || outcome === 'behind')
  const writable = new Set([...begun, ...ends.filter(isWritten).map(({ job }) => job)])
  const written = round.jobs.filter((job) => writable.has(job)).flatMap((job) => derived.get(job.id) ?? [])
  const transactionId = projection.isAnnounced ? await transactionIdOf(tx) : null
  if (written.length > 0) await projection.write(tx, written)
  const outcomes = new Map(ends.map(({ job, outcome }) => [job.id, completed.has(job.id) ? outcome : 'fenced']))
  return { outcomes, begun, transactionId }
}

// Announces the documents with nothing left to derive. The round is committed already, so a failure here fails no job.
async function announce<Source extends ProjectionSource, Result>(
  { projection, runtime }: Deriving<Source, Result>,
  { outcomes, transactionId, jobs }: Committed & { jobs: readonly Job<DocumentJob>[] },
): Promise<void> {
  const isOver = ({ id }: Job<DocumentJob>) => outcomes.get(id) === 'current' || outcomes.get(id) === 'gone'
  const documentIds = jobs.filter(isOver).map(({ data }) => data.document_id)
  if (transactionId === null || documentIds.length === 0) return
  const { name } = projection
  try {
    await announceCurrent(runtime.database, { projection: name, transactionId, documentIds })
  } catch (err) {
    runtime.log.warn({ err, queue: projection.queue.name }, 'readers were not told that documents are current')
  }
}

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
}): JobOutcome | 'moved' | 'begun' {
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
