import { PgBoss } from 'pg-boss'
import { Registry } from 'prom-client'
import type { Config } from '../../shared/config/config.ts'
import { type Database, openDatabase } from '../../shared/database/database.ts'
import { sessionOptions } from '../../shared/database/session.ts'
import { livenessStatement } from '../../shared/health/queries.ts'
import { JobMetrics } from '../../shared/jobs/metrics.ts'
import { type Jobs, logQueueError, queueCacheIntervalSeconds } from '../../shared/jobs/send.ts'
import type { Models } from '../../shared/models/model.ts'
import { openModels } from '../../shared/models/open-models.ts'
import type { Logger } from '../../shared/process/log.ts'
import type { WorkerType } from '../../shared/process/process-types.ts'
import { type Attempts, openAttempts } from './attempts.ts'
import { openJobSession } from './job-session.ts'
import { measureModels } from './model-metrics.ts'
import { openSupervision } from './supervision.ts'
import { openWakeups, type Wakeups } from './wakeups.ts'

/** The parts of a worker process. Every worker of the process gets the same object. */
export type Runtime = {
  config: Config
  database: Database
  jobs: Jobs
  attempts: Attempts
  wakeups: Wakeups
  log: Logger
  metrics: JobMetrics
  /** The metrics of this process alone, which `/metrics` of METRICS_PORT serves. */
  registry: Registry
  models: Models
}

/** A worker: one kind of work. `start` returns a function that stops the worker and waits for its running jobs. */
export type Worker = { name: string; start: (runtime: Runtime) => Promise<() => Promise<void>> }

/**
 * The longest wait for running jobs, in milliseconds, when the process stops. A process has to stop within ten seconds,
 * so three seconds are left to close its connections.
 */
const drainMs = 7000

/**
 * The options of the pool of pg-boss. The type of pg-boss leaves out `idleTimeoutMillis`, but the pool gets this
 * option. It keeps a connection open from one run of cron to the next.
 */
const bossPool = { max: 2, idleTimeoutMillis: 60_000 }

/**
 * Opens the database, the session on which jobs are claimed and announced, and the library pg-boss. The library fails
 * jobs, stores their heartbeats and, where `schedule` is set, runs cron. The supervision of pg-boss is off, since it
 * counts the whole table of jobs. Metrics count the process under each of its `types` for as long as the session lives.
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
  const supervision = openSupervision({ database, jobs, log })
  const onError = (err: unknown) => log.warn({ err }, 'taking jobs')
  const wakeups = openWakeups({ session: () => session, onActivity: supervision.rouse, onError })
  const onOpen = () => {
    attempts.mark()
    wakeups.all()
    session.query(livenessStatement, [types]).catch(onError)
  }
  const session = openJobSession({ url: config.DATABASE_URL, onOpen, onAnnounced: wakeups.announced, onError })
  const attempts = openAttempts({ session, jobs, onError })
  await session.opened
  const metrics = new JobMetrics(database)
  const flushing = setInterval(() => metrics.flush().catch((err) => log.warn({ err }, 'job metrics')), 5000)
  return {
    config,
    database,
    attempts,
    wakeups,
    log,
    metrics,
    registry,
    models: measureModels(openModels(config), { registry, prices: config }),
    jobs,
    async close() {
      clearInterval(flushing)
      attempts.close()
      await Promise.all([wakeups.close(), supervision.close()])
      await jobs.stop()
      await session.close()
      await metrics.flush()
      await database.end()
    },
  }
}

async function startBoss({ config, log, schedule }: { config: Config; log: Logger; schedule: boolean }) {
  const boss = new PgBoss({
    ...sessionOptions(config.DATABASE_URL),
    ...bossPool,
    application_name: 'svc-worker',
    migrate: false,
    supervise: false,
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
