import pLimit, { type LimitFunction } from 'p-limit'
import type { Job, JobResult } from 'pg-boss'
import type { DocumentJob } from '../../shared/jobs/queues.ts'
import { batchesOf } from './batches.ts'
import { handOverLarge, type Part } from './job-queries.ts'
import { takeJobs } from './job-worker.ts'
import type { Projection, ProjectionHooks, ProjectionSource } from './projection.ts'
import { reportEnd } from './report.ts'
import { type Deriving, deriveRound } from './round.ts'
import type { Worker } from './runtime.ts'
import type { Taking } from './take.ts'

/**
 * Makes a worker of a projection. The obsolete rule lives here, once: load, compute, then lock the sources and write
 * only what still follows from the one that was loaded. A source that moved is derived again, at most three times; then a
 * result that is newer than what is projected may still be written, so that constant writing cannot starve the
 * projection, but it stays marked as stale, and the job of the newer version is queued already (decisions B4).
 *
 * The first of these rounds is one transaction for a whole batch. It waits for no writer: a document that is being
 * written, like one that has moved or is gone, is left for a round of its own. A document that cannot be computed fails by
 * itself; when a batch cannot be written, each of its documents gets a round of its own.
 *
 * Large documents, which are computed in threads and may take long, are only given back to the queue there. Others take
 * them one by one, in fair turns, so that none of them ever holds up a small one.
 */
export function defineProjection<Source extends ProjectionSource, Result>(
  projection: Projection<Source, Result>,
  hooks: ProjectionHooks = {},
): Worker {
  const { queue } = projection
  return {
    name: queue.name,
    async start(runtime) {
      const deriving = { projection, hooks, runtime }
      const stops = await Promise.all([
        takeJobs(runtime, { queue, ...takingSmall(deriving) }),
        takeJobs(runtime, { queue, ...takingLarge(deriving) }),
      ])
      return async () => {
        await Promise.all(stops.map((stop) => stop()))
      }
    },
  }
}

type ProjectionTaking = Omit<Taking<DocumentJob>, 'queue'>

function takingSmall<Source extends ProjectionSource, Result>(deriving: Deriving<Source, Result>): ProjectionTaking {
  const { runtime, projection } = deriving
  const { together = 32 } = projection
  const concurrency = runtime.config.WORKER_CONCURRENCY
  // Each loop has places of its own, so that what one fetches does not wait for the locks that the other waits for.
  const places = Math.max(1, Math.floor(concurrency / 2))
  return {
    part: 'small',
    loops: 2,
    batchSize: Math.max(together, 2 * concurrency),
    async run(jobs) {
      const { batches, large } = await batchesOf(runtime.database, { jobs, most: together })
      const handedOver = await handOver(deriving, large)
      return [...handedOver, ...(await deriveFetched({ ...deriving, limit: pLimit(places) }, batches))]
    },
  }
}

function takingLarge<Source extends ProjectionSource, Result>(deriving: Deriving<Source, Result>): ProjectionTaking {
  // Two at least, of which no workspace has all: whoever else has a large document finds a place.
  const loops = Math.max(2, Math.floor(deriving.runtime.config.WORKER_CONCURRENCY / 2))
  return {
    part: 'large',
    loops,
    batchSize: 1,
    ofOneWorkspace: loops - 1,
    run: (jobs) => Promise.all(jobs.map((job) => deriveAlone(deriving, { job, part: 'large', firstRound: 1 }))),
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
    for (const result of await deriveTogether(context, batch)) ended.set(result.id, result)
  }
  const tried = new Set(together.flat())
  const alone = batches.flat().filter(({ id }) => !ended.has(id))
  const singly = alone
    .toSorted((a, b) => a.retryCount - b.retryCount)
    .map((job) => limit(() => deriveAlone(context, { job, part: 'small', firstRound: tried.has(job) ? 2 : 1 })))
  return [...ended.values(), ...(await Promise.all(singly))]
}

const rounds = 3

// Those that have to be derived again, each by itself, are left out; when it fails these are all of them.
async function deriveTogether<Source extends ProjectionSource, Result>(
  deriving: Deriving<Source, Result>,
  jobs: readonly Job<DocumentJob>[],
): Promise<JobResult[]> {
  const { runtime, projection } = deriving
  const { queue } = projection
  const start = performance.now()
  try {
    const { ends, large } = await deriveRound(deriving, { jobs, part: 'small', last: false })
    const handedOver = await handOver(deriving, large)
    const ended = jobs.flatMap((job) => {
      const end = ends.get(job.id)
      return end === undefined ? [] : [{ queue, job, start, shared: jobs.length, end }]
    })
    return [...handedOver, ...ended.map((attempt) => reportEnd(runtime, attempt))]
  } catch (err) {
    runtime.log.warn({ err, queue: queue.name, jobs: jobs.length }, 'jobs that failed together are run one by one')
    return []
  }
}

async function deriveAlone<Source extends ProjectionSource, Result>(
  deriving: Deriving<Source, Result>,
  { job, part, firstRound }: { job: Job<DocumentJob>; part: Part; firstRound: number },
): Promise<JobResult> {
  const { runtime, projection } = deriving
  const attempt = { queue: projection.queue, job, start: performance.now() }
  try {
    for (let round = firstRound; round <= rounds; round += 1) {
      const { ends, large } = await deriveRound(deriving, { jobs: [job], part, last: round === rounds })
      const [handedOver] = await handOver(deriving, large)
      if (handedOver !== undefined) return handedOver
      const end = ends.get(job.id)
      if (end !== undefined) return reportEnd(runtime, { ...attempt, end })
    }
    throw new Error('the projection itself moved in every round')
  } catch (error) {
    return reportEnd(runtime, { ...attempt, end: { error } })
  }
}

// Gives jobs of large documents back; there is nothing more to be told of these attempts.
async function handOver<Source extends ProjectionSource, Result>(
  { runtime, projection }: Deriving<Source, Result>,
  attempts: readonly Job<DocumentJob>[],
): Promise<JobResult[]> {
  if (attempts.length === 0) return []
  await handOverLarge(runtime.database, { queue: projection.queue.name, projection: projection.name, attempts })
  return attempts.map(({ id }) => ({ id, status: 'completed' }))
}
