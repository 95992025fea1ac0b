import { setImmediate as nextTurn } from 'node:timers/promises'
import pLimit from 'p-limit'
import type { Job, JobResult } from 'pg-boss'
import { inTransaction, type Queryable, type Transaction } from '../shared/database.ts'
import type { JobOutcome } from '../shared/job-metrics.ts'
import { type Derived, type DocumentSource, lockSources, markCurrent } from '../shared/projections/queries.ts'
import type { DocumentJob, Queue } from '../shared/queues.ts'
import { batchesOf } from './batches.ts'
import { completeAttempts, takeJobs } from './define.ts'
import { reportEnd } from './report.ts'
import type { Runtime, Worker } from './runtime.ts'

/** What is loaded: the source, and the body_seq at which the projection stood, since a write may be incremental. */
export type ProjectionSource = DocumentSource & { projected_seq: number | null }

/**
 * A derived noun's projection of documents, declared: how sources are read, what becomes of each, where it goes. Whatever
 * touches the database does so for a whole batch of documents, of which no two jobs are about the same.
 */
export type Projection<Source extends ProjectionSource, Result> = {
  /** Its name in `projections` of shared/queues.ts. */
  name: string
  queue: Queue<DocumentJob>
  /** Reads the sources without a lock, by document id; documents that are gone are left out. */
  load: (db: Queryable, jobs: readonly DocumentJob[]) => Promise<ReadonlyMap<string, Source>>
  /** Derives, outside any transaction. */
  compute: (source: Source, job: DocumentJob) => Promise<Result> | Result
  /** Whether the projection would come out the same from both: compares what it depends on, nothing more. */
  sameSource: (source: Source, current: DocumentSource) => boolean
  /** Locks the projection's rows in the order of document ids and returns the body_seq each stands at, by that id. */
  projectedSeqs: (tx: Transaction, jobs: readonly DocumentJob[]) => Promise<ReadonlyMap<string, number>>
  /** Writes what was derived, in the order of document ids. */
  write: (tx: Transaction, derived: readonly Derived<Source, Result>[]) => Promise<void>
}

/** Points at which a test can make the source move, or a process die. */
export type ProjectionHooks = { beforeCommit?: (job: DocumentJob) => Promise<void> }

/**
 * Makes a worker of a projection. The obsolete rule lives here, once: load, compute, then lock the sources and write
 * only what still follows from the one that was loaded. A source that moved is derived again, at most three times; then a
 * result that is newer than what is projected may still be written, so that constant writing cannot starve the
 * projection, but it stays marked as stale, and the job of the newer version is queued already (decisions B4).
 *
 * The first of these rounds is one transaction for a whole batch. It waits for no writer: a document that is being
 * written, like one that has moved or is gone, is left for a round of its own. So are all of a batch that fails, which
 * leaves one document that cannot be derived nothing to spoil.
 */
export function defineProjection<Source extends ProjectionSource, Result>(
  projection: Projection<Source, Result>,
  hooks: ProjectionHooks = {},
): Worker {
  const { queue } = projection
  return {
    name: queue.name,
    async start(runtime) {
      const concurrency = runtime.config.WORKER_CONCURRENCY
      const limit = pLimit(Math.min(2, concurrency))
      const run = async (jobs: Job<DocumentJob>[]) => {
        const results: JobResult[] = []
        for (const batch of await batchesOf(runtime.database, jobs))
          results.push(...(await limit(() => deriveBatch({ projection, hooks, runtime }, batch))))
        return results
      }
      return takeJobs(runtime, { queue, loops: 2, batchSize: 4 * concurrency, run })
    },
  }
}

type Context<Source extends ProjectionSource, Result> = {
  projection: Projection<Source, Result>
  hooks: ProjectionHooks
  runtime: Runtime
}

const rounds = 3

async function deriveBatch<Source extends ProjectionSource, Result>(
  context: Context<Source, Result>,
  jobs: readonly Job<DocumentJob>[],
): Promise<JobResult[]> {
  const { runtime, projection } = context
  const { queue } = projection
  const start = performance.now()
  const outcomes = jobs.length > 1 ? await deriveTogether(context, jobs) : new Map<string, JobOutcome>()
  const results = jobs.flatMap((job) => {
    const outcome = outcomes.get(job.id)
    return outcome === undefined ? [] : [reportEnd(runtime, { queue, job, start, end: { outcome } })]
  })
  for (const job of jobs) {
    if (outcomes.has(job.id)) continue
    const begun = performance.now()
    const end = await deriveAlone(context, { job, firstRound: jobs.length > 1 ? 2 : 1 })
    results.push(reportEnd(runtime, { queue, job, start: begun, end }))
  }
  return results
}

async function deriveTogether<Source extends ProjectionSource, Result>(
  context: Context<Source, Result>,
  jobs: readonly Job<DocumentJob>[],
): Promise<ReadonlyMap<string, JobOutcome>> {
  try {
    return await deriveRound(context, { jobs, last: false })
  } catch (err) {
    const { log } = context.runtime
    log.warn({ err, queue: context.projection.queue.name, jobs: jobs.length }, 'jobs failed together')
    return new Map()
  }
}

async function deriveAlone<Source extends ProjectionSource, Result>(
  context: Context<Source, Result>,
  { job, firstRound }: { job: Job<DocumentJob>; firstRound: number },
): Promise<{ outcome: JobOutcome } | { error: unknown }> {
  try {
    for (let round = firstRound; round <= rounds; round += 1) {
      const outcome = (await deriveRound(context, { jobs: [job], last: round === rounds })).get(job.id)
      if (outcome !== undefined) return { outcome }
    }
    return { error: new Error('the projection itself moved in every round') }
  } catch (error) {
    return { error }
  }
}

type Round = { jobs: readonly Job<DocumentJob>[]; last: boolean }

// How each of the jobs ended, by their ids; those that have to be derived again are left out.
async function deriveRound<Source extends ProjectionSource, Result>(
  context: Context<Source, Result>,
  round: Round,
): Promise<ReadonlyMap<string, JobOutcome>> {
  const { projection, hooks, runtime } = context
  const keys = round.jobs.map(({ data }) => data)
  const sources = await projection.load(runtime.database, keys)
  const derived = new Map<string, Derived<Source, Result>>()
  for (const { id, data: job } of round.jobs) {
    const source = sources.get(job.document_id)
    if (source !== undefined) derived.set(id, { job, source, result: await projection.compute(source, job) })
    // A large batch must not keep the other work of this process waiting.
    await nextTurn()
  }
  for (const job of keys) await hooks.beforeCommit?.(job)
  return inTransaction(runtime.database, (tx) => commit(tx, { context, round, derived }))
}

async function commit<Source extends ProjectionSource, Result>(
  tx: Transaction,
  input: {
    context: Context<Source, Result>
    round: Round
    derived: ReadonlyMap<string, Derived<Source, Result>>
  },
): Promise<ReadonlyMap<string, JobOutcome>> {
  const { context, round, derived } = input
  const { projection, runtime } = context
  const keys = round.jobs.map(({ data }) => data)
  const alone = round.jobs.length === 1
  const sources = await lockSources(tx, keys, { wait: alone })
  const seqs = await projection.projectedSeqs(
    tx,
    keys.filter(({ document_id }) => sources.has(document_id)),
  )
  const ends = round.jobs.flatMap((job) => {
    const current = sources.get(job.data.document_id)
    const projected = seqs.get(job.data.document_id) ?? null
    const outcome = judge({ projection, derived: derived.get(job.id), current, projected, ...round, alone })
    return outcome === 'moved' ? [] : [{ job, outcome }]
  })
  const completed = await completeAttempts(tx, { runtime, queue: projection.queue, ends })
  const held = ends.filter(({ job }) => completed.has(job.id))
  const ofOutcome = (...outcomes: JobOutcome[]) => held.filter(({ outcome }) => outcomes.includes(outcome))
  const written = ofOutcome('current', 'behind').flatMap(({ job }) => derived.get(job.id) ?? [])
  if (written.length > 0) await projection.write(tx, written)
  await markCurrent(tx, { projection: projection.name, jobs: ofOutcome('current').map(({ job }) => job.data) })
  return new Map(ends.map(({ job, outcome }) => [job.id, completed.has(job.id) ? outcome : 'fenced']))
}

function judge<Source extends ProjectionSource, Result>(input: {
  projection: Projection<Source, Result>
  derived: Derived<Source, Result> | undefined
  current: DocumentSource | undefined
  projected: number | null
  alone: boolean
  last: boolean
}): JobOutcome | 'moved' {
  const { projection, derived, current, projected } = input
  // Beside others it may only be locked.
  if (current === undefined) return input.alone ? 'gone' : 'moved'
  // It was there at the lock but not at the load: its first body was still being committed.
  if (derived === undefined) return 'moved'
  const same = projection.sameSource(derived.source, current)
  if (projected !== derived.source.projected_seq || (!same && !input.last)) return 'moved'
  if (!same && projected !== null && derived.source.body_seq <= projected) return 'obsolete'
  return same ? 'current' : 'behind'
}
