import { PgBoss } from 'pg-boss'
import type { Config } from '../shared/config.ts'
import { type Database, openDatabase } from '../shared/database.ts'
import { JobMetrics } from '../shared/job-metrics.ts'
import type { Logger } from '../shared/log.ts'
import type { Models } from '../shared/model.ts'
import { openModels } from '../shared/open-models.ts'
import type { Jobs } from '../shared/queues.ts'
import { sessionOptions } from '../shared/session.ts'
import { type Attempts, openAttempts } from './attempts.ts'

/** What a worker process is made of; one object is passed to every worker it runs. */
export type Runtime = {
  config: Config
  database: Database
  jobs: Jobs
  attempts: Attempts
  log: Logger
  metrics: JobMetrics
  models: Models
}

/** One kind of work; `start` returns how to stop it, which waits for what has begun. */
export type Worker = { name: string; start: (runtime: Runtime) => Promise<() => Promise<void>> }

/**
 * Opens the database and the fetching side of the queue: on a pool of its own, with a connection that listens, so that
 * a job starts when it is committed instead of when somebody polls. `schedule` lets this process run cron.
 */
export async function openRuntime(options: {
  config: Config
  log: Logger
  schedule: boolean
}): Promise<Runtime & { close: () => Promise<void> }> {
  const { config, log } = options
  const database = await openDatabase({ url: config.DATABASE_URL, poolSize: config.WORKER_CONCURRENCY + 4 })
  const boss = new PgBoss({
    ...sessionOptions(config.DATABASE_URL),
    application_name: 'svc-worker',
    max: 4,
    migrate: false,
    useListenNotify: true,
    schedule: options.schedule,
    supervise: true,
    superviseIntervalSeconds: 1,
    monitorIntervalSeconds: 1,
    // A fetch passes over the keys that were active when the queue's row was last read: at the default of 60 s, a document
    // whose job ran at that moment waited a minute for its next one.
    queueCacheIntervalSeconds: 1,
  })
  boss.on('error', (error) => log.error({ err: error }, 'job queue'))
  boss.on('warning', (warning) => log.warn({ warning }, 'job queue'))
  await boss.start()
  const attempts = openAttempts({
    url: config.DATABASE_URL,
    onError: (err) => log.warn({ err }, 'marks of attempts'),
  })
  const metrics = new JobMetrics(database)
  const flushing = setInterval(() => metrics.flush().catch((err) => log.warn({ err }, 'job metrics')), 5000)
  return {
    config,
    database,
    attempts,
    log,
    metrics,
    models: openModels(config),
    jobs: { boss, stop: () => boss.stop({ graceful: true, timeout: drainMs }) },
    async close() {
      clearInterval(flushing)
      await boss.stop({ graceful: true, timeout: drainMs })
      await attempts.close()
      await metrics.flush()
      await database.end()
    },
  }
}

// Below the ten seconds in which everything must have stopped (decisions 10).
const drainMs = 7000
