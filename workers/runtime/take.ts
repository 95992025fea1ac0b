import pg from 'pg'
import type { Job, JobResult } from 'pg-boss'
import { foreignStatements, inTransaction } from '../../shared/database/database.ts'
import type { Queue } from '../../shared/jobs/queues.ts'
import { exhaustRetries } from './job-queries.ts'
import { excuseOutages } from './outages.ts'
import type { Runtime } from './runtime.ts'

/** How the jobs of a queue are taken: by so many loops, each of which fetches up to `batchSize` and runs them. */
export type Taking<Data extends object> = {
  queue: Queue<Data>
  loops: number
  batchSize: number
  /** Jobs that it says nothing of have failed; those that are `completed` it has completed itself. */
  run: (jobs: Job<Data>[]) => Promise<JobResult[]>
}

/**
 * Takes the jobs of one queue in one process. It looks for jobs when it is woken, behind a full batch, and when jobs
 * have ended, since others of the same keys may have waited for them; and it rests otherwise.
 */
export class Taker<Data extends object> {
  readonly #runtime: Runtime
  readonly #taking: Taking<Data>
  readonly #running = new Set<Promise<void>>()
  #due = false
  #claiming: Promise<void> | undefined
  #stopped = false

  constructor(runtime: Runtime, taking: Taking<Data>) {
    this.#runtime = runtime
    this.#taking = taking
  }

  /** Has it look for jobs. */
  wake(): void {
    this.#due = true
    if (this.#mayFetch()) this.#claiming ??= this.#claim()
  }

  /** Resolves when the jobs that have begun are done; no others are begun. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#claiming
    await Promise.all(this.#running)
  }

  #mayFetch(): boolean {
    return this.#due && !this.#stopped && this.#running.size < this.#taking.loops
  }

  async #claim(): Promise<void> {
    while (this.#mayFetch()) {
      this.#due = false
      const jobs = await this.#fetch()
      if (jobs.length >= this.#taking.batchSize) this.#due = true
      if (jobs.length > 0) this.#begin(jobs)
    }
    this.#claiming = undefined
  }

  // What is not fetched now, for want of a connection for instance, is looked for by the next wake-up.
  async #fetch(): Promise<Job<Data>[]> {
    const { queue, batchSize } = this.#taking
    try {
      return await this.#runtime.attempts.claim(queue, batchSize)
    } catch (err) {
      if (err instanceof pg.DatabaseError && err.code === uniqueViolation) this.#due = true
      else this.#runtime.log.warn({ err, queue: queue.name }, 'jobs could not be fetched')
      return []
    }
  }

  #begin(jobs: Job<Data>[]): void {
    const run = this.#run(jobs).finally(() => {
      this.#running.delete(run)
      this.wake()
    })
    this.#running.add(run)
  }

  async #run(jobs: Job<Data>[]): Promise<void> {
    const { attempts, database, log } = this.#runtime
    const { queue } = this.#taking
    try {
      const results = await this.#results(jobs)
      await excuseOutages(database, { queue, jobs, results })
      await this.#settle(jobs, results)
    } catch (err) {
      // They stay active without a mark, and supervision hands them on.
      log.error({ err, queue: queue.name, jobs: jobs.length }, 'jobs could not be settled')
    } finally {
      attempts.release(jobs)
    }
  }

  async #results(jobs: Job<Data>[]): Promise<JobResult[]> {
    const seconds = Math.max(...jobs.map(({ expireInSeconds }) => expireInSeconds))
    try {
      return await within(seconds, this.#taking.run(jobs))
    } catch (error) {
      const output = { message: error instanceof Error ? error.message : String(error) }
      return jobs.map(({ id }) => ({ id, status: 'failed', output }))
    }
  }

  async #settle(jobs: Job<Data>[], results: readonly JobResult[]): Promise<void> {
    const { database, jobs: queue } = this.#runtime
    const { name } = this.#taking.queue
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

// Another process has taken a job of the same key between our look at the table and our claim.
const uniqueViolation = '23505'

const missing = { status: 'failed', output: { message: 'the worker said nothing of this job' } } as const

type Ended = { job: Job<object>; status: JobResult['status']; output?: object }

// As many statements as there are reasons.
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
