import { PgBoss } from 'pg-boss'
import { Histogram, Registry } from 'prom-client'
import type { Config } from '../../shared/config/config.ts'
import { type Database, openDatabase } from '../../shared/database/database.ts'
import { keepSession } from '../../shared/database/kept-session.ts'
import { openSession, sessionOptions } from '../../shared/database/session.ts'
import { livenessStatement } from '../../shared/health/queries.ts'
import { type Jobs, logQueueError, queueCacheIntervalSeconds } from '../../shared/jobs/send.ts'
import type { Models } from '../../shared/models/model.ts'
import { measureModels } from '../../shared/models/model-metrics.ts'
import { openModels } from '../../shared/models/open-models.ts'
import type { Logger } from '../../shared/process/log.ts'
import type { WorkerType } from '../../shared/process/process-types.ts'
import { openWakeups } from './wakeups.ts'

/** The parts of a worker process. Every worker of the process gets the same object. */
export type Runtime = {
  config: Config
  database: Database
  jobs: Jobs
  log: Logger
  /** The metrics of this process, which `/metrics` of METRICS_PORT serves. */
  registry: Registry
  /** How long attempts at jobs took, in seconds. */
  durations: Histogram<'queue' | 'outcome'>
  models: Models
}

/** A worker: one kind of work. `start` returns a function that stops the worker and waits for its running jobs. */
export type Worker = { name: string; start: (runtime: Runtime) => Promise<() => Promise<void>> }

export function stopAll(stops: readonly (() => Promise<void>)[]): () => Promise<void> {
  return async () => {
    await Promise.all(stops.map((stop) => stop()))
  }
}

/** The longest wait for running jobs, in milliseconds, when the process stops, which has to take less than 10 s. */
const drainMs = 7000

/**
 * Opens the database and pg-boss, which runs jobs and, where `schedule` is set, cron. Metrics of the service count the
 * process under each of its `types` as long as the session lives that marks it as living.
 */
export async function openRuntime(options: {
  config: Config
  log: Logger
  schedule: boolean
  types?: readonly WorkerType[]
}): Promise<Runtime & { close: () => Promise<void> }> {
  const { config, log, types = [] } = options
  const registry = new Registry()
  const database = await openDatabase({ url: config.DATABASE_URL, poolSize: config.WORKER_CONCURRENCY + 4 })
  const boss = await startBoss(options)
  const jobs: Jobs = { boss, stop: () => boss.stop({ graceful: true, timeout: drainMs }) }
  const wakeups = openWakeups({ database, boss, onError: (err) => log.warn({ err }, 'looking for jobs') })
  const living = keepSession({
    open: () => openSession({ url: config.DATABASE_URL, name: 'svc-living' }),
    prepare: (session) => session.query(livenessStatement, [types]),
    onChange: () => {},
    onError: (err) => log.warn({ err }, 'the session that marks this process as living'),
  })
  const durations = new Histogram({
    name: 'svc_job_duration_seconds',
    help: 'Time of attempts at jobs, by how they ended',
    labelNames: ['queue', 'outcome'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    registers: [registry],
  })
  const models = measureModels(openModels(config), { registry, prices: config })
  return {
    ...{ config, database, jobs, log, registry, durations, models },
    async close() {
      await wakeups.close()
      await jobs.stop()
      await living.close()
      await database.end()
    },
  }
}

async function startBoss({ config, log, schedule }: { config: Config; log: Logger; schedule: boolean }) {
  const boss = new PgBoss({
    ...sessionOptions(config.DATABASE_URL),
    // Connections that fetch and settle jobs, besides the connection that listens.
    max: 3,
    application_name: 'svc-worker',
    migrate: false,
    useListenNotify: true,
    // pg-boss's own supervision counts the whole table of jobs once a minute or more often. Here it runs when a job
    // lacks its heartbeat (`Wakeups`), and once an hour in the sweep of retention.
    supervise: false,
    monitorIntervalSeconds: 1,
    maintenanceIntervalSeconds: 600,
    schedule,
    // With these two intervals, a scheduled job is at most a minute late.
    cronMonitorIntervalSeconds: 45,
    cronWorkerIntervalSeconds: 15,
    queueCacheIntervalSeconds,
  })
  boss.on('error', (error) => logQueueError(log, error))
  boss.on('warning', (warning) => log.warn({ warning }, 'job queue'))
  await boss.start()
  return boss
}
