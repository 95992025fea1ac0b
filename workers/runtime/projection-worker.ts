import pLimit, { type LimitFunction } from 'p-limit'
import type { Job, JobResult } from 'pg-boss'
import type { Queryable } from '../../shared/database/database.ts'
import { documentSizes } from '../../shared/jobs/projections/queries.ts'
import type { DocumentJob } from '../../shared/jobs/queues.ts'
import { handOverLarge, type Part } from './job-queries.ts'
import type { Projection, ProjectionHooks, ProjectionSource } from './projection.ts'
import { reportEnd } from './report.ts'
import { type Deriving, deriveRound } from './round.ts'
import type { Worker } from './runtime.ts'
import { type TakeOptions, takeJobs } from './take.ts'

/** The largest number of rounds for a document before its job fails. */
const rounds = 3

/** The largest number of documents in a batch, unless the projection sets the member `together`. */
const batchDocuments = 32

/**
 * The most bytes of text that the documents of a batch have together. A single document with more text counts as large.
 */
const batchBytes = 300_000

/**
 * Makes a worker of a projection.
 *
 * A round loads the sources, computes, then locks the documents and writes only what still follows from their current
 * sources (`deriveRound`). A document whose source has changed meanwhile is derived again, in at most three rounds. The
 * last round writes a result that is newer than the stored data even when the source has changed again. So constant
 * writing cannot starve the projection. The document then stays stale, and the job of the newer version is queued
 * already.
 *
 * The first round is one transaction for a whole batch and waits for no writer. A document gets a round of its own when
 * it is being written or gone, or when its source has changed. A document that cannot be computed fails by itself. When
 * a batch cannot be written, each of its documents gets a round of its own.
 *
 * Two takers share the queue. The taker of small documents gives the jobs of large documents back. The taker of large
 * documents derives them one by one, in threads and in fair turns. So no large document holds up a small document.
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
        takeJobs(runtime, { queue, ...takeSmall(deriving) }),
        takeJobs(runtime, { queue, ...takeLarge(deriving) }),
      ])
      return async () => {
        await Promise.all(stops.map((stop) => stop()))
      }
    },
  }
}

type DocumentTakeOptions = Omit<TakeOptions<DocumentJob>, 'queue'>

function takeSmall<Source extends ProjectionSource, Result>(deriving: Deriving<Source, Result>): DocumentTakeOptions {
  const { runtime, projection } = deriving
  const { together = batchDocuments } = projection
  const concurrency = runtime.config.WORKER_CONCURRENCY
  // Each loop has a limit of its own. With a common limit, jobs of one loop that wait for locks could keep all jobs of
  // the other loop from running.
  const besideEachOther = Math.max(1, Math.floor(concurrency / 2))
  return {
    part: 'small',
    loops: 2,
    batchSize: Math.max(together, 2 * concurrency),
    async run(jobs) {
      const { batches, large } = await batchesOf(runtime.database, { jobs, most: together })
      const handedOver = await handOver(deriving, large)
      return [...handedOver, ...(await deriveFetched({ ...deriving, limit: pLimit(besideEachOther) }, batches))]
    },
  }
}

function takeLarge<Source extends ProjectionSource, Result>(deriving: Deriving<Source, Result>): DocumentTakeOptions {
  // There are at least two loops, and no workspace may use all of them. So a large document of another workspace finds
  // a free loop.
  const loops = Math.max(2, Math.floor(deriving.runtime.config.WORKER_CONCURRENCY / 2))
  return {
    part: 'large',
    loops,
    batchSize: 1,
    ofOneWorkspace: loops - 1,
    run: (jobs) => Promise.all(jobs.map((job) => deriveAlone(deriving, { job, part: 'large', firstRound: 1 }))),
  }
}

type Batch = { bytes: number; jobs: Map<string, Job<DocumentJob>> }

/**
 * Divides fetched jobs into batches of at most `most` documents and `batchBytes` of text. The smallest documents come
 * first; each batch is in the order of document ids. A reindex can add a second job of a document, which goes into
 * another batch. A document that is larger than a batch is in no batch: its job is returned in `large`.
 */
async function batchesOf(
  db: Queryable,
  { jobs, most }: { jobs: readonly Job<DocumentJob>[]; most: number },
): Promise<{ batches: Job<DocumentJob>[][]; large: Job<DocumentJob>[] }> {
  if (jobs.length === 1 || most === 1) return { batches: jobs.map((job) => [job]), large: [] }
  const keys = jobs.map(({ data }) => data)
  const sizes = await documentSizes(db, keys)
  const sizeOf = (job: Job<DocumentJob>) => sizes.get(job.data.document_id) ?? 0
  const batches: Batch[] = []
  const large = jobs.filter((job) => sizeOf(job) > batchBytes)
  for (const job of jobs.filter((job) => sizeOf(job) <= batchBytes).toSorted((a, b) => sizeOf(a) - sizeOf(b))) {
    const { document_id } = job.data
    const bytes = sizeOf(job)
    const room = batches.find(
      (batch) => batch.jobs.size < most && batch.bytes + bytes <= batchBytes && !batch.jobs.has(document_id),
    )
    const batch = room ?? { bytes: 0, jobs: new Map() }
    if (room === undefined) batches.push(batch)
    batch.bytes += bytes
    batch.jobs.set(document_id, job)
  }
  const inOrder = ({ jobs }: Batch) => [...jobs].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, job]) => job)
  return { batches: batches.map(inOrder), large }
}

// Derives batches one after the other, since the first batches hold the smallest documents. Then single documents are
// derived at the same time. Documents whose job failed before come last.
async function deriveFetched<Source extends ProjectionSource, Result>(
  context: Deriving<Source, Result> & { limit: LimitFunction },
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

// Derives a batch and returns the results of the jobs that have ended. All other jobs have to be derived again, each by
// itself. A batch that fails has no results.
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

// Gives the jobs of large documents back to the queue. The results of these jobs are `completed`, so that nothing else
// is reported to pg-boss.
async function handOver<Source extends ProjectionSource, Result>(
  { runtime, projection }: Deriving<Source, Result>,
  attempts: readonly Job<DocumentJob>[],
): Promise<JobResult[]> {
  if (attempts.length === 0) return []
  await handOverLarge(runtime.database, { queue: projection.queue.name, projection: projection.name, attempts })
  runtime.attempts.giveBack(attempts)
  return attempts.map(({ id }) => ({ id, status: 'completed' }))
}
