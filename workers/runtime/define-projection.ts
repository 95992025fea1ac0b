import pLimit, { type LimitFunction } from 'p-limit'
import type { Job, JobResult } from 'pg-boss'
import type { DocumentJob } from '../../shared/jobs/queues.ts'
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
 * written, like one that has moved or is gone or takes long to compute, is left for a round of its own. A document that
 * cannot be computed fails by itself; when a batch cannot be written, each of its documents gets a round of its own.
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
      // Each loop has places of its own, so that a sentence that one fetches is not behind the books of the other.
      const places = Math.max(1, Math.floor(concurrency / 2))
      const run = async (jobs: Job<DocumentJob>[]) =>
        deriveFetched(
          { projection, hooks, runtime, limit: pLimit(places) },
          await batchesOf(runtime.database, { jobs, most: together }),
        )
      // Two loops, always: one goes on while a document of the other takes long.
      const taking = { loops: 2, batchSize: Math.max(together, 2 * concurrency) }
      return takeJobs(runtime, { queue, ...taking, run })
    },
  }
}

type Context<Source extends ProjectionSource, Result> = Deriving<Source, Result> & { limit: LimitFunction }

// Batches one after the other, since the first are of the smallest documents; then single documents beside each other,
// those last that failed before.
async function deriveFetched<Source extends ProjectionSource, Result>(
  context: Context<Source, Result>,
  batches: readonly Job<DocumentJob>[][],
): Promise<JobResult[]> {
  const { limit } = context
  const together = batches.filter((batch) => batch.length > 1)
  const ended = new Map<string, JobResult>()
  for (const batch of together) {
    for (const [id, result] of await deriveTogether(context, batch)) ended.set(id, result)
  }
  const tried = new Set(together.flat())
  const alone = batches.flat().filter(({ id }) => !ended.has(id))
  const singly = alone
    .toSorted((a, b) => a.retryCount - b.retryCount)
    .map((job) => limit(() => deriveAlone(context, { job, firstRound: tried.has(job) ? 2 : 1 })))
  return [...ended.values(), ...(await Promise.all(singly))]
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
    const ends = await deriveRound(deriving, { jobs, last: false })
    const ended = jobs.flatMap((job) => {
      const end = ends.get(job.id)
      return end === undefined ? [] : [{ queue, job, start, shared: jobs.length, end }]
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
      const end = (await deriveRound(deriving, { jobs: [job], last: round === rounds })).get(job.id)
      if (end !== undefined) return reportEnd(runtime, { ...attempt, end })
    }
    throw new Error('the projection itself moved in every round')
  } catch (error) {
    return reportEnd(runtime, { ...attempt, end: { error } })
  }
}
