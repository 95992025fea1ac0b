import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Job, JobResult } from 'pg-boss'
import { type Database, foreignStatements, inTransaction, sql } from '../../shared/database/database.ts'
import { isOutage } from '../../shared/database/outages.ts'
import type { Queue } from '../../shared/jobs/queues.ts'
import type { Claimed } from './attempts.ts'
import { exhaustRetries, type Part, putLast } from './job-queries.ts'
import type { Runtime } from './runtime.ts'

/** The options by which a taker takes the jobs of a queue. */
export type TakeOptions<Data extends object> = {
  queue: Queue<Data>
  /** How many fetched batches run at a time. */
  loops: number
  /** How many jobs a fetch claims at most. */
  batchSize: number
  /** The part of the queue that is taken; the whole queue when absent. */
  part?: Part
  /** The most jobs of one workspace that run at a time, for the part `large` only; `loops` when absent. */
  ofOneWorkspace?: number
  /**
   * Runs fetched jobs. A job whose result is `completed` must have been completed by `run` itself. A job without a
   * result has failed, and so have all jobs when `run` throws or takes longer than the queue allows.
   */
  run: (jobs: Job<Data>[]) => Promise<JobResult[]>
}

/**
 * PostgreSQL's unique violation. The error says that another process has claimed a job of the same key while the
 * claiming statement ran.
 */
const uniqueViolation = '23505'

/**
 * The pause, in milliseconds, between two tries while the database is out of reach. After an outage, supervision waits
 * for a second before it looks for lapsed attempts. The pause is shorter, so this process reports the results of its
 * attempts first.
 */
const outagePauseMs = 500

/** The longest pause, in seconds, between an attempt that an outage of the database ended and the next attempt. */
const longestPauseSeconds = 60

/**
 * The most retries that a job can have after outages. A job that itself causes the outages reaches this limit after
 * some hours.
 */
const mostRetries = 500

const missing = { status: 'failed', output: { message: 'the worker said nothing of this job' } } as const

/**
 * Takes the jobs of a queue as they become due, woken by announcements. Failed jobs are handed to pg-boss, which
 * retries with backoff and at last moves the job to the dead-letter queue. Returns a function that stops the taking and
 * waits for running jobs.
 */
export async function takeJobs<Data extends object>(
  runtime: Runtime,
  options: TakeOptions<Data>,
): Promise<() => Promise<void>> {
  const taker = new Taker(runtime, options)
  const unsubscribe = runtime.wakeups.subscribe(options.queue.name, () => taker.wake(), options.part)
  taker.wake()
  return async () => {
    unsubscribe()
    await taker.stop()
  }
}

/**
 * Takes the jobs of one queue in one process. The taker looks for jobs when it is woken, and after a look that has
 * found more jobs than it could claim. While a batch runs, jobs of the same keys cannot be claimed. So if the taker was
 * woken meanwhile, it looks once more when the batch has ended. Otherwise it rests.
 */
class Taker<Data extends object> {
  readonly #runtime: Runtime
  readonly #options: TakeOptions<Data>
  readonly #running = new Map<Promise<void>, readonly Job<Data>[]>()
  #due = false
  #wakes = 0
  #claiming: Promise<void> | undefined
  #stopped = false

  constructor(runtime: Runtime, options: TakeOptions<Data>) {
    this.#runtime = runtime
    this.#options = options
  }

  /** Looks for jobs now, or as soon as a loop is free. */
  wake(): void {
    this.#wakes += 1
    this.#look()
  }

  #look(): void {
    this.#due = true
    if (this.#mayFetch()) this.#claiming ??= this.#claim()
  }

  /** Begins no further jobs and resolves when the running jobs have ended. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#claiming
    await Promise.all(this.#running.keys())
  }

  #mayFetch(): boolean {
    return this.#due && !this.#stopped && this.#running.size < this.#options.loops
  }

  async #claim(): Promise<void> {
    while (this.#mayFetch()) {
      this.#due = false
      const wakes = this.#wakes
      const { jobs, more } = await this.#fetch()
      if (jobs.length >= this.#options.batchSize) this.#due = true
      if (jobs.length > 0)
        this.#begin(jobs, () => more || this.#wakes > wakes || this.#options.ofOneWorkspace !== undefined)
    }
    this.#claiming = undefined
  }

  // A fetch can fail, for example without a free connection. The next wake-up then fetches the jobs.
  async #fetch(): Promise<Claimed<Data>> {
    const { queue, batchSize, part } = this.#options
    try {
      const of = part && { part, except: this.#fullWorkspaces() }
      return await this.#runtime.attempts.claimDue(queue, batchSize, of)
    } catch (err) {
      if (err instanceof pg.DatabaseError && err.code === uniqueViolation) this.#due = true
      else this.#runtime.log.warn({ err, queue: queue.name }, 'jobs could not be fetched')
      return { jobs: [], more: false }
    }
  }

  // The workspaces that have reached their limit of running jobs.
  #fullWorkspaces(): string[] {
    const { ofOneWorkspace = Infinity } = this.#options
    const byWorkspace = Map.groupBy([...this.#running.values()].flat(), ({ data }) => workspaceOf(data))
    return [...byWorkspace].flatMap(([id, jobs]) => (jobs.length >= ofOneWorkspace ? id : []))
  }

  // Runs claimed jobs. At their end, `haveWaited` tells whether other jobs of the same key or workspace may have waited
  // for the claimed jobs. If so, the taker looks for jobs again.
  #begin(jobs: Job<Data>[], haveWaited: () => boolean): void {
    const run = this.#run(jobs).finally(() => {
      this.#running.delete(run)
      if (this.#due || haveWaited()) this.#look()
    })
    this.#running.set(run, jobs)
  }

  async #run(jobs: Job<Data>[]): Promise<void> {
    const { attempts, database, log } = this.#runtime
    const { queue } = this.#options
    try {
      const results = await this.#results(jobs)
      await this.#afterOutage(() => excuseOutages(database, { queue, jobs, results }))
      await this.#afterOutage(() => this.#putLast(jobs, results))
      await this.#afterOutage(() => this.#settle(jobs, results))
    } catch (err) {
      // The jobs stay active, but their marks are removed. So supervision finds the attempts lapsed and has the jobs
      // retried.
      log.error({ err, queue: queue.name, jobs: jobs.length }, 'jobs could not be settled')
    } finally {
      attempts.release(jobs)
    }
  }

  async #results(jobs: Job<Data>[]): Promise<JobResult[]> {
    const seconds = Math.max(...jobs.map(({ expireInSeconds }) => expireInSeconds))
    try {
      return await within(seconds, this.#options.run(jobs))
    } catch (error) {
      const output = { message: error instanceof Error ? error.message : String(error) }
      return jobs.map(({ id }) => ({ id, status: 'failed', output }))
    }
  }

  // Repeats `work` until an outage of the database is over. Meanwhile the attempts keep their marks, because
  // supervision would count attempts without marks as failed.
  async #afterOutage(work: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        return await work()
      } catch (error) {
        if (this.#stopped || !isOutage(error)) throw error
      }
      await sleep(outagePauseMs)
    }
  }

  // Puts jobs whose computation went over its limit behind all other jobs, because the next attempt will probably go
  // over the limit too.
  async #putLast(jobs: Job<Data>[], results: readonly JobResult[]): Promise<void> {
    const overLimit = new Set(results.filter(isOverLimit).map(({ id }) => id))
    const attempts = jobs.filter(({ id }) => overLimit.has(id))
    if (attempts.length > 0) await putLast(this.#runtime.database, { queue: this.#options.queue.name, attempts })
  }

  async #settle(jobs: Job<Data>[], results: readonly JobResult[]): Promise<void> {
    const { database, jobs: queue } = this.#runtime
    const { name } = this.#options.queue
    const byId = new Map(results.map((result) => [result.id, result]))
    const ended = jobs.map((job) => ({ job, ...(byId.get(job.id) ?? missing) }))
    for (const [status, output, attempts] of failures(ended)) {
      if (status === 'failed') await queue.boss.fail(name, attempts, output)
      else {
        await inTransaction(database, async (tx) => {
          await exhaustRetries(tx, { queue: name, attempts })
          await queue.boss.fail(name, attempts, output, { db: foreignStatements(tx) })
        })
      }
    }
  }
}

// Gives one more retry to each job whose attempt was ended by an outage of the database, so that the outage uses up no
// retry. The job waits for a minute at most. Call this function before pg-boss is told that the attempts have failed.
async function excuseOutages(
  database: Database,
  ended: { queue: Queue<object>; jobs: readonly Pick<Job, 'id' | 'retryCount'>[]; results: readonly JobResult[] },
): Promise<void> {
  const excused = new Set(ended.results.filter(isOfOutage).map(({ id }) => id))
  const attempts = ended.jobs.filter(({ id }) => excused.has(id)).map(({ id, retryCount }) => [id, retryCount])
  if (attempts.length === 0) return
  await database.query(sql.unsafe`
    UPDATE pgboss.job SET retry_limit = retry_limit + 1, retry_delay_max = least(retry_delay_max, ${longestPauseSeconds})
    FROM ${sql.unnest(attempts, ['uuid', 'int4'])} AS attempt (id, retry_count)
    WHERE job.name = ${ended.queue.name} AND job.id = attempt.id AND job.retry_count = attempt.retry_count
      AND job.state = 'active' AND job.retry_limit < ${mostRetries}`)
}

function isOfOutage({ status, output }: JobResult): boolean {
  return status === 'failed' && (output as { outage?: boolean } | undefined)?.outage === true
}

function workspaceOf(data: object): string {
  return 'workspace_id' in data ? String(data.workspace_id) : ''
}

function isOverLimit({ output }: JobResult): boolean {
  return (output as { over_limit?: boolean } | undefined)?.over_limit === true
}

type Ended = { job: Job<object>; status: JobResult['status']; output?: object }

// Groups failed jobs by status and output, so that pg-boss needs one statement for each reason.
function failures(ended: readonly Ended[]) {
  const failed = ended.filter(({ status }) => status !== 'completed')
  const groups = Map.groupBy(failed, ({ status, output = {} }) => `${status} ${JSON.stringify(output)}`)
  return [...groups.values()].map((group) => {
    const [first] = group
    return [first?.status, first?.output ?? {}, group.map(({ job }) => job)] as const
  })
}

async function within<T>(seconds: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`the job took more than ${seconds} s`)), seconds * 1000)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
