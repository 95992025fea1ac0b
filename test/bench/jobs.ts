import { setTimeout as sleep } from 'node:timers/promises'
import { type Job, PgBoss } from 'pg-boss'
import { readConfig } from '../../shared/config/config.ts'
import { foreignStatements, inTransaction, openDatabase } from '../../shared/database/database.ts'
import { type DocumentJob, largeOf, type Queue, queues } from '../../shared/jobs/queues.ts'
import { openJobs } from '../../shared/jobs/send.ts'
import { createLogger } from '../../shared/process/log.ts'
import { defineProjection } from '../../workers/runtime/projection.ts'
import { openRuntime } from '../../workers/runtime/runtime.ts'
import { createDocument, type Site, until } from '../support/site.ts'
import { atOnce } from '../support/workers.ts'
import { alternate, type Figure, ms, percentile } from './harness.ts'

const count = 1000
// The number of documents in a batch.
const together = 32

/** Measures the job platform, with a projection that computes nothing, against plain pg-boss. */
export async function measureJobs(site: Site): Promise<Figure[]> {
  const bench = await openBench(site)
  const queue = bench.queue.name
  try {
    const latencies = await startLatencies(bench)
    const median = percentile(latencies, 50)
    const rates = await alternate(5, {
      worker: () => drainWithWorker(bench),
      oneByOne: () => drainByHand(bench, (jobs) => Promise.all(jobs.map((job) => bench.boss.complete(queue, job)))),
      together: () => drainByHand(bench, (jobs) => bench.boss.complete(queue, jobs)),
    })
    const [single, batched] = [rates.worker / rates.oneByOne, rates.worker / rates.together]
    return [
      { name: 'job, transaction begun to job started, p50', value: ms(median), bar: 'under 25 ms', met: median < 25 },
      { name: 'job, transaction begun to job started, p95', value: ms(percentile(latencies, 95)) },
      { name: 'jobs of an empty projection by defineProjection', value: `${Math.round(rates.worker)}/s` },
      { name: `bare pg-boss, ${together} fetched, each completed by itself`, value: `${Math.round(rates.oneByOne)}/s` },
      { name: 'ratio of the two', value: single.toFixed(2), bar: 'at least 0.7', met: single >= 0.7 },
      { name: `bare pg-boss, ${together} fetched, completed at once`, value: `${Math.round(rates.together)}/s` },
      { name: 'ratio to that', value: batched.toFixed(2) },
    ]
  } finally {
    await bench.close()
  }
}

/** The milliseconds from the begin of the enqueuing transaction to the start of the job, on an idle service. */
export async function measureStartLatencies(site: Site): Promise<number[]> {
  const bench = await openBench(site)
  try {
    return await startLatencies(bench)
  } finally {
    await bench.close()
  }
}

type Bench = Awaited<ReturnType<typeof openBench>>

async function openBench(site: Site) {
  const queue: Queue<DocumentJob> = { name: 'bench.index', options: queues.searchIndex.options }
  const boss = new PgBoss({ connectionString: site.url, max: 4, migrate: false, supervise: false, schedule: false })
  boss.on('error', () => {})
  await boss.start()
  for (const { name, options } of [queue, largeOf(queue)]) await boss.createQueue(name, options)
  const config = readConfig(site.env)
  const runtime = await openRuntime({
    config,
    log: createLogger({ service: 'bench', config: { LOG_LEVEL: 'silent', LOG_FORMAT: 'json' } }),
    schedule: false,
  })
  const database = await openDatabase({ url: site.url, poolSize: 4 })
  const jobs = await openJobs({ database, onError: () => {} })
  const documents: DocumentJob[] = []
  const [{ id: workspace_id }] = await site.ask('SELECT id FROM workspaces LIMIT 1')
  for (let index = 0; index < 50; index += 1) {
    documents.push({ workspace_id, document_id: (await createDocument(site, 'bench')).id })
  }
  return {
    queue,
    boss,
    runtime,
    database,
    jobs,
    documents,
    async close() {
      await jobs.stop()
      await database.end()
      await runtime.close()
      await boss.stop({ graceful: false })
    },
  }
}

async function startLatencies(bench: Bench): Promise<number[]> {
  const started = new Map<string, number>()
  const stop = await emptyWorker(bench, ({ document_id }) => started.set(document_id, performance.now()))
  const latencies: number[] = []
  for (const job of bench.documents) {
    await sleep(30)
    const begun = performance.now()
    await inTransaction(bench.database, (tx) =>
      bench.jobs.boss.insert(bench.queue.name, [{ data: job }], { db: foreignStatements(tx) }),
    )
    await until(async () => started.has(job.document_id))
    latencies.push((started.get(job.document_id) ?? 0) - begun)
  }
  await stop()
  return latencies
}

async function drainWithWorker(bench: Bench): Promise<number> {
  await fill(bench)
  const { promise: drained, resolve } = Promise.withResolvers<void>()
  let started = 0
  const begun = performance.now()
  const stop = await emptyWorker(bench, () => {
    started += 1
    if (started === count) resolve()
  })
  await drained
  await stop()
  return count / ((performance.now() - begun) / 1000)
}

async function drainByHand(bench: Bench, complete: (jobs: Job<object>[]) => Promise<unknown>): Promise<number> {
  await fill(bench)
  const begun = performance.now()
  for (;;) {
    const jobs = await bench.boss.fetch<object>(bench.queue.name, { batchSize: together })
    if (jobs.length === 0) return count / ((performance.now() - begun) / 1000)
    await complete(jobs)
  }
}

async function fill(bench: Bench): Promise<void> {
  const jobs = Array.from({ length: count }, (_, index) => ({ data: bench.documents[index % bench.documents.length] }))
  await bench.boss.insert(bench.queue.name, jobs)
}

function emptyWorker(bench: Bench, onStart: (job: DocumentJob) => void): Promise<() => Promise<void>> {
  const source = { version: '', body_seq: 0, title: '', knowledge_base_id: 0, locale: null, projected_seq: null }
  const projection = defineProjection({
    name: 'bench',
    queue: bench.queue,
    storedIn: null,
    load: async (_db, jobs) => {
      for (const job of jobs) onStart(job)
      return new Map(jobs.map(({ document_id }) => [document_id, source]))
    },
    compute: atOnce(() => null),
    sameSource: () => true,
    write: async () => {},
  })
  return projection.start(bench.runtime)
}
