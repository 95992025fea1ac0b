import pLimit, { type LimitFunction } from 'p-limit'
import type { Job, JobResult } from 'pg-boss'
import type { DocumentJob } from '../shared/queues.ts'
import { batchesOf } from './batches.ts'
import { takeJobs } from './define.ts'
import type { Projection, ProjectionHooks, ProjectionSource } from './projection.ts'
import { reportEnd } from './report.ts'
import { type Deriving, deriveRound } from './round.ts'
import type { Worker } from './runtime.ts'

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
  const { queue, together = 32 } = projection
  return {
    name: queue.name,
    async start(runtime) {
      const concurrency = runtime.config.WORKER_CONCURRENCY
      // One place is left to the batches of the other loop, so that a sentence fetched after many books is not behind them.
      const context = { projection, hooks, runtime, limit: pLimit(Math.max(1, concurrency - 1)) }
      const run = async (jobs: Job<DocumentJob>[]) =>
        deriveFetched(context, await batchesOf(runtime.database, { jobs, most: together }))
      // Two loops: one fetches while the batches of the other run.
      const taking = { loops: Math.min(2, concurrency), batchSize: Math.max(together, 2 * concurrency) }
      return takeJobs(runtime, { queue, ...taking, run })
    },
  }
}

type Context<Source extends ProjectionSource, Result> = Deriving<Source, Result> & { limit: LimitFunction }

// Batches one after the other, since the first are of the smallest documents; single documents beside each other.
async function deriveFetched<Source extends ProjectionSource, Result>(
  context: Context<Source, Result>,
  batches: readonly Job<DocumentJob>[][],
): Promise<JobResult[]> {
  const results: JobResult[] = []
  for (const batch of batches) if (batch.length > 1) results.push(...(await deriveBatch(context, batch)))
  const single = batches.filter((batch) => batch.length === 1).map((batch) => deriveBatch(context, batch))
  return [...results, ...(await Promise.all(single)).flat()]
}

async function deriveBatch<Source extends ProjectionSource, Result>(
  context: Context<Source, Result>,
  batch: readonly Job<DocumentJob>[],
): Promise<JobResult[]> {
  const { limit } = context
  const ended = batch.length > 1 ? await deriveTogether(context, batch) : nothing
  const firstRound = batch.length > 1 ? 2 : 1
  const alone = (job: Job<DocumentJob>) => limit(() => deriveAlone(context, { job, firstRound }))
  return Promise.all(batch.map((job) => ended.get(job.id) ?? alone(job)))
}

const rounds = 3

/** What pg-boss is told of jobs that have ended, by their ids. */
type Ended = ReadonlyMap<string, JobResult>
const nothing: Ended = new Map()

// Those that have to be derived again, each by itself, are left out; when it fails these are all of them.
async function deriveTogether<Source extends ProjectionSource, Result>(
  deriving: Deriving<Source, Result>,
  jobs: readonly Job<DocumentJob>[],
): Promise<Ended> {
  const { runtime, projection } = deriving
  const { queue } = projection
  const start = performance.now()
  try {
    const outcomes = await deriveRound(deriving, { jobs, last: false })
    const ended = jobs.flatMap((job) => {
      const outcome = outcomes.get(job.id)
      return outcome === undefined ? [] : [{ queue, job, start, shared: jobs.length, end: { outcome } }]
    })
    return new Map(ended.map((attempt) => [attempt.job.id, reportEnd(runtime, attempt)]))
  } catch (err) {
    runtime.log.warn({ err, queue: queue.name, jobs: jobs.length }, 'jobs that failed together are run one by one')
    return nothing
  }
}

async function deriveAlone<Source extends ProjectionSource, Result>(
  deriving: Deriving<Source, Result>,
  { job, firstRound }: { job: Job<DocumentJob>; firstRound: number },
): Promise<JobResult> {
  const { runtime, projection } = deriving
  const attempt = { queue: projection.queue, job, start: performance.now() }
  try {
    for (let round = firstRound; round <= rounds; round += 1) {
      const outcome = (await deriveRound(deriving, { jobs: [job], last: round === rounds })).get(job.id)
      if (outcome !== undefined) return reportEnd(runtime, { ...attempt, end: { outcome } })
    }
    throw new Error('the projection itself moved in every round')
  } catch (error) {
    return reportEnd(runtime, { ...attempt, end: { error } })
  }
}
