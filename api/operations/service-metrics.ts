import { Gauge, type Registry } from 'prom-client'
import type { Database } from '../../shared/database/database.ts'
import { failedRequestedJobs, lags, liveProcesses, sizes } from '../../shared/health/queries.ts'
import { queueLoads } from '../../shared/jobs/reads.ts'
import { outdatedDocuments } from '../../shared/search/index/reindex.ts'

// The age, in milliseconds, up to which figures from the database are kept in memory and served again.
const freshMs = 5000
// The age, in milliseconds, up to which the stored bytes are served again. This age is longer, because PostgreSQL
// looks at every file of the database to tell the size.
const sizesFreshMs = 60_000

/**
 * Adds the metrics of the whole service, which come from the database at each scrape, among them queues and live
 * processes. Each figure is asked for at most once in `freshMs`, however many clients scrape.
 */
export function observeService({ registry, database }: { registry: Registry; database: Database }): void {
  observeQueues({ registry, loads: cached(() => loadsWithFailures(database)) })
  observeLags({ registry, latest: cached(async () => [await lags(database)]) })
  observeSizes({ registry, latest: cached(async () => [await sizes(database)], sizesFreshMs) })
  observeProcesses({ registry, live: cached(() => liveProcesses(database)) })
  observeSearch({ registry, outdated: cached(async () => [await outdatedDocuments(database)]) })
}

type QueueLoads = Awaited<ReturnType<typeof queueLoads>>

const queueGauges = [
  { name: 'svc_queue_waiting_jobs', help: 'Jobs that wait, due or held back', value: 'waiting' },
  { name: 'svc_queue_oldest_seconds', help: 'For how long the oldest job has been due', value: 'oldest_seconds' },
  { name: 'svc_queue_active_jobs', help: 'Jobs that run', value: 'active' },
  {
    name: 'svc_queue_failed_jobs',
    help: 'Jobs that failed for good: in the dead-letter queue, or requested and failed; counted up to 10000',
    value: 'dead',
  },
] as const

// Adds requested jobs that failed to the failures of their queues. These jobs are counted in a table of requested jobs,
// because a worker takes jobs out of the dead-letter queue.
async function loadsWithFailures(database: Database): Promise<QueueLoads> {
  const [loads, failures] = await Promise.all([queueLoads(database), failedRequestedJobs(database)])
  const failed = new Map(failures.map(({ queue, failed }) => [queue, failed]))
  return loads.map((load) => ({ ...load, dead: load.dead + (failed.get(load.name) ?? 0) }))
}

function observeQueues({ registry, loads }: { registry: Registry; loads: () => Promise<QueueLoads> }): void {
  for (const { name, help, value } of queueGauges) {
    new Gauge({
      name,
      help,
      labelNames: ['queue'],
      registers: [registry],
      async collect() {
        this.reset()
        for (const load of await loads()) this.set({ queue: load.name }, load[value])
      },
    })
  }
}

type Lags = Awaited<ReturnType<typeof lags>>

function observeLags({ registry, latest }: { registry: Registry; latest: () => Promise<readonly Lags[]> }): void {
  const gauge = (name: string, help: string, value: keyof Lags) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        this.reset()
        for (const lag of await latest()) this.set(lag[value])
      },
    })
  gauge(
    'svc_events_unnumbered_seconds',
    'For how long the oldest event has waited for its number',
    'unnumbered_seconds',
  )
  gauge('svc_stale_documents_oldest_seconds', 'For how long the stalest document has waited', 'stale_seconds')
}

type Live = Awaited<ReturnType<typeof liveProcesses>>

function observeProcesses({
  registry,
  live,
}: {
  registry: Registry
  live: () => Promise<readonly Live[number][]>
}): void {
  new Gauge({
    name: 'svc_live_processes',
    help: 'Processes that are connected to the database, by type; one that runs several types counts for each',
    labelNames: ['type'],
    registers: [registry],
    async collect() {
      this.reset()
      for (const { type, processes } of await live()) this.set({ type }, processes)
    },
  })
}

type Sizes = Awaited<ReturnType<typeof sizes>>

function observeSizes({ registry, latest }: { registry: Registry; latest: () => Promise<readonly Sizes[]> }): void {
  new Gauge({
    name: 'svc_stored_bytes',
    help: 'Bytes of the database on its disk, and of all attachments',
    labelNames: ['what'],
    registers: [registry],
    async collect() {
      this.reset()
      for (const size of await latest()) {
        for (const [what, bytes] of Object.entries(size)) this.set({ what }, bytes)
      }
    },
  })
}

function observeSearch({
  registry,
  outdated,
}: {
  registry: Registry
  outdated: () => Promise<readonly number[]>
}): void {
  new Gauge({
    name: 'svc_search_outdated_documents',
    help: 'Documents that another tokeniser indexed and that are still to be indexed again',
    registers: [registry],
    async collect() {
      this.reset()
      for (const count of await outdated()) this.set(count)
    },
  })
}

// Keeps the answer of `ask` for `maxAgeMs` milliseconds. While the database is out of reach, the answer is empty, so
// that all other metrics are still served.
function cached<T>(ask: () => Promise<readonly T[]>, maxAgeMs = freshMs): () => Promise<readonly T[]> {
  let latest: { at: number; answer: Promise<readonly T[]> } | undefined
  return () => {
    if (latest === undefined || Date.now() - latest.at > maxAgeMs) {
      latest = { at: Date.now(), answer: ask().catch(() => []) }
    }
    return latest.answer
  }
}
