import { createHash } from 'node:crypto'
import type { Job } from 'pg-boss'
import { type Ahead, computingAhead } from '../../shared/computations/ahead.ts'
import { ComputationLimitError } from '../../shared/computations/computation.ts'
import { inTransaction, type Queryable, type Transaction } from '../../shared/database/database.ts'
import { isOutage } from '../../shared/database/outages.ts'
import { causesOf } from '../../shared/errors/causes.ts'
import type { JobOutcome } from '../../shared/jobs/outcomes.ts'
import { deadLetterOf, type Queue, type RequestedJobKey } from '../../shared/jobs/queues.ts'
import * as jobs from '../../shared/jobs/requested/queries.ts'
import type { RequestedJobTable } from '../../shared/jobs/requested/tables.ts'
import { enqueueRequestedJob } from '../../shared/jobs/send.ts'
import { ModelError, type ModelRequest } from '../../shared/models/model.ts'
import { onBehalfOf } from '../../shared/turns/requester.ts'
import { defineWorker } from './job-worker.ts'
import type { ExplainedOutcome } from './report.ts'
import type { Runtime, Worker } from './runtime.ts'
import { completeAttempts, FencedError, outagePauseSeconds, replaceAfterOutage } from './work.ts'

/**
 * Asks the model and returns its answer. If an earlier attempt at the same job has made the same request, its stored
 * answer is returned instead.
 */
export type Ask = (request: ModelRequest) => Promise<string>

/** Says that a job cannot succeed any more; `obsolete` is its `obsolete_reason`. */
export type Obsolete = { obsolete: string }

/**
 * A kind of requested job (`shared/jobs/requested/README.md`). `defineRequestedJob` makes a worker of it, which calls
 * the members in the order in which they stand here. Each computation may take WORKER_COMPUTE_MS of a processor; a
 * computation over its limit ends the job with `document_too_large`. After a `ModelError` that may pass, pg-boss tries
 * the job again while it has retries. Any other `ModelError` ends the job as `failed`, with the code of the error.
 * After all other errors the job is tried again.
 */
export type RequestedJob<Source extends object, Result> = {
  table: RequestedJobTable
  /**
   * Reads what the job is about, outside any transaction and without locks. Returns `Obsolete` when the source has
   * moved already, so that nobody pays for a result that is not needed.
   */
  load: (db: Queryable, key: RequestedJobKey) => Promise<Source | Obsolete>
  /** Derives the result with the help of the model, outside any transaction. */
  compute: (source: Source, ask: Ask) => Promise<Result>
  /**
   * Locks the source and compares it with the loaded source. This is the first step of the transaction that ends the
   * job. Locks are taken in this order: documents by id, units, summaries. Slow results come from `ahead`, because the
   * transaction must not compute them while it holds locks. Returns the `obsolete_reason`, or null when nothing has
   * moved.
   */
  moved: (tx: Transaction, input: { key: RequestedJobKey; source: Source; ahead: Ahead }) => Promise<string | null>
  /**
   * Writes the result in the transaction that ends the job, after `moved`. The sources and the row of the job are
   * locked. Returns how the job ends.
   */
  write: (
    tx: Transaction,
    input: { key: RequestedJobKey; source: Source; result: Result },
  ) => Promise<jobs.RequestedJobEnd>
  /** Called last in the transaction that ends a job, whatever the end is. */
  ended?: (tx: Transaction, key: RequestedJobKey) => Promise<void>
}

/** A set of functions by which a test changes a source, or ends a process, in the middle of a job. */
export type RequestedJobHooks = { beforeCommit?: (key: RequestedJobKey) => Promise<void> }

/**
 * Makes the worker of a kind of requested job. The worker claims the row, loads, asks the model, then locks the source
 * and writes only when nothing has moved. Jobs are fetched one by one, so that no fetched job waits while this process
 * is busy with another job.
 */
export function defineRequestedJob<Source extends object, Result>(
  kind: RequestedJob<Source, Result>,
  hooks: RequestedJobHooks = {},
): Worker {
  return defineWorker<RequestedJobKey>({
    queue: kind.table.queue,
    run: (runtime, job, signal) => new Attempt({ kind, runtime, job, signal, hooks }).run(),
  })
}

/**
 * Makes the worker that ends jobs of a kind which no worker could finish. The worker takes their pg-boss jobs from the
 * dead-letter queue, and the requested jobs fail with `model_error`. So nobody waits for them for ever.
 */
export function defineDeadRequestedJob(kind: {
  table: RequestedJobTable
  ended?: RequestedJob<never, never>['ended']
}): Worker {
  const queue: Queue<RequestedJobKey> = { name: deadLetterOf(kind.table.queue), options: {} }
  return defineWorker<RequestedJobKey>({
    queue,
    run: (runtime, job) =>
      inTransaction(runtime.database, async (tx): Promise<JobOutcome> => {
        const row = { table: kind.table, key: job.data }
        const locked = await jobs.lockJob(tx, row)
        if (locked !== null && isOpen(locked.status)) {
          await jobs.endJob(tx, { ...row, end: { status: 'failed', code: 'model_error' } })
        }
        await jobs.settleAnswers(tx, row)
        await kind.ended?.(tx, job.data)
        await completeAttempts(tx, { jobs: runtime.jobs, attempts: [job] })
        return 'dead'
      }),
  })
}

/** The end of a job whose requester has lost the writing role. */
const revoked: jobs.RequestedJobEnd = { status: 'failed', code: 'access_revoked' }

/** The outcome of an attempt, by the status that the job has after the attempt. */
const outcomes = {
  pending: 'gone',
  running: 'gone',
  succeeded: 'done',
  failed: 'failed',
  obsolete: 'obsolete',
} as const

type Status = keyof typeof outcomes

type Context<Source extends object, Result> = {
  kind: RequestedJob<Source, Result>
  runtime: Runtime
  job: Job<RequestedJobKey>
  /** Aborts when the process is to end. */
  signal: AbortSignal
  hooks: RequestedJobHooks
}

/**
 * A proposal of an attempt that has not locked anything yet: to write a result of a source, or to end the job without a
 * result. `end` is null when the row of the job could not be claimed, so that there is nothing to end.
 */
type Proposal<Source, Result> = { source: Source; result: Result } | { end: jobs.RequestedJobEnd | null }

/** One attempt at one job. */
class Attempt<Source extends object, Result> {
  readonly #context: Context<Source, Result>
  readonly #row: jobs.RequestedJobAttempt

  constructor(context: Context<Source, Result>) {
    this.#context = context
    this.#row = { table: context.kind.table, key: context.job.data, attempt: jobs.attemptOf(context.job) }
  }

  /**
   * Claims the row of the job and works on the job. `#settle` carries out the proposal, also when the row could not be
   * claimed.
   */
  async run(): Promise<JobOutcome | ExplainedOutcome> {
    const { runtime, kind, job } = this.#context
    const queue = kind.table.queue.name
    const limit = { mostMs: runtime.config.WORKER_COMPUTE_MS }
    try {
      if (!(await jobs.claim(runtime.database, { ...this.#row, queue, job }))) return await this.#settle({ end: null })
      return await onBehalfOf(job.data.workspace_id, async () => this.#settle(await this.#propose()), limit)
    } catch (error) {
      return this.#fail(error)
    }
  }

  /**
   * Derives the result without a lock. Anything that would make the result worthless is looked for before the model is
   * paid.
   */
  async #propose(): Promise<Proposal<Source, Result>> {
    const { runtime, kind, job, hooks } = this.#context
    const key = job.data
    if (!(await jobs.requesterMayWrite(runtime.database, this.#row))) return { end: revoked }
    const source = await kind.load(runtime.database, key)
    if ('obsolete' in source) return { end: { status: 'obsolete', reason: source.obsolete } }
    const result = await kind.compute(source, await this.#asker())
    await hooks.beforeCommit?.(key)
    return { source, result }
  }

  async #asker(): Promise<Ask> {
    const { runtime, job, signal } = this.#context
    const paid = await jobs.paidAnswers(runtime.database, job.data)
    return async (request) => {
      const hash = createHash('sha256').update(JSON.stringify(request)).digest('base64url')
      const stored = paid.get(hash)
      if (stored !== undefined) return stored.text
      const answer = await runtime.models.ask(request, signal)
      await jobs.keepAnswer(runtime.database, job.data, { hash, answer })
      return answer.text
    }
  }

  /**
   * Locks the sources and then the row of the job, decides what becomes of the job, and completes pg-boss's job, in one
   * transaction. Writes take the locks in the same order. A job that was ended meanwhile stays as it is, and nothing is
   * written.
   */
  async #settle(proposal: Proposal<Source, Result>): Promise<ExplainedOutcome> {
    const { runtime, kind, job } = this.#context
    const settle = async (tx: Transaction, ahead: Ahead): Promise<ExplainedOutcome> => {
      const reason =
        'source' in proposal ? await kind.moved(tx, { key: job.data, source: proposal.source, ahead }) : null
      const row = await jobs.lockJob(tx, this.#row)
      const end = row !== null && isOpen(row.status) ? await this.#end(tx, { row, proposal, reason }) : row
      await jobs.settleAnswers(tx, this.#row)
      await kind.ended?.(tx, job.data)
      await completeAttempts(tx, { jobs: runtime.jobs, attempts: [job] })
      return explained(end)
    }
    return computingAhead((ahead) => inTransaction(runtime.database, (tx) => settle(tx, ahead)))
  }

  /**
   * Ends an open job whose row is locked, and returns the end. Throws a `FencedError` when the row belongs to another
   * attempt.
   */
  async #end(
    tx: Transaction,
    input: { row: { attempt: string | null }; proposal: Proposal<Source, Result>; reason: string | null },
  ): Promise<jobs.RequestedJobEnd | null> {
    const { row, proposal, reason } = input
    if (row.attempt !== this.#row.attempt) throw new FencedError(`another attempt has job ${this.#row.key.job_id}`)
    const end = reason === null ? await this.#accept(tx, proposal) : ({ status: 'obsolete', reason } as const)
    if (end !== null) await jobs.endJob(tx, { ...this.#row, end })
    return end
  }

  /** Carries out a proposal whose source has not moved. */
  async #accept(tx: Transaction, proposal: Proposal<Source, Result>): Promise<jobs.RequestedJobEnd | null> {
    if ('end' in proposal) return proposal.end
    if (!(await jobs.requesterMayWrite(tx, this.#row))) return revoked
    return this.#context.kind.write(tx, { key: this.#row.key, ...proposal })
  }

  /**
   * Ends the job with the code of an error that will not pass. When the process stops, it gives the job back. Otherwise
   * it throws the error again, so that pg-boss retries the job.
   */
  async #fail(error: unknown): Promise<JobOutcome | ExplainedOutcome> {
    const { kind, runtime, job, signal } = this.#context
    if (signal.aborted) {
      await inTransaction(runtime.database, async (tx) => {
        await this.#release(tx)
        await completeAttempts(tx, { jobs: runtime.jobs, attempts: [job] })
      })
      return 'released'
    }
    if (isOutage(error)) {
      const send = (tx: Transaction) => this.#release(tx, outagePauseSeconds)
      await replaceAfterOutage(runtime, { job, stopping: signal, send })
      throw error
    }
    const code = error instanceof ComputationLimitError ? 'document_too_large' : modelCodeOf(error)
    if (code === null) throw error
    const isLast = job.retryCount >= (kind.table.queue.options.retryLimit ?? 0)
    if (error instanceof ModelError && error.transient && !isLast) throw error
    const ended = await this.#settle({ end: { status: 'failed', code } })
    return { ...ended, causes: causesOf(error) }
  }

  // Gives the job back as a new job of pg-boss, so that the end of the process or an outage uses up no retry.
  async #release(tx: Transaction, startAfter = 0): Promise<void> {
    const { runtime, kind, job } = this.#context
    await jobs.releaseJob(tx, this.#row)
    await enqueueRequestedJob({ tx, jobs: runtime.jobs }, { queue: kind.table.queue, key: job.data, startAfter })
  }
}

function isOpen(status: Status): boolean {
  return status === 'pending' || status === 'running'
}

function modelCodeOf(error: unknown): string | null {
  return error instanceof ModelError ? error.code : null
}

// Turns the end of a job into the outcome of the attempt. A job that was ended by somebody else has no reason here,
// because the reason was reported when it ended.
function explained(end: jobs.RequestedJobEnd | { status: Status } | null): ExplainedOutcome {
  if (end === null) return { outcome: 'gone' }
  const outcome = outcomes[end.status]
  if ('code' in end) return { outcome, reason: end.code }
  return 'reason' in end ? { outcome, reason: end.reason } : { outcome }
}
