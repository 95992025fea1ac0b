import { createHash } from 'node:crypto'
import type { Job } from 'pg-boss'
import { ComputationLimitError } from '../../shared/computations/computation.ts'
import { inTransaction, type Queryable, type Transaction } from '../../shared/database/database.ts'
import { causesOf } from '../../shared/errors/causes.ts'
import type { JobOutcome } from '../../shared/jobs/metrics.ts'
import type { RequestedJobKey } from '../../shared/jobs/queues.ts'
import * as jobs from '../../shared/jobs/requested/queries.ts'
import type { RequestedJobTable } from '../../shared/jobs/requested/tables.ts'
import { enqueueRequestedJob } from '../../shared/jobs/send.ts'
import { ModelError, type ModelRequest } from '../../shared/models/model.ts'
import { onBehalfOf } from '../../shared/turns/requester.ts'
import { completeAttempt, defineWorker, FencedError } from './job-worker.ts'
import type { ExplainedOutcome } from './report.ts'
import type { Runtime, Worker } from './runtime.ts'

/** Asks the model, or returns what it answered to the same request in an earlier attempt of the same job. */
export type Ask = (request: ModelRequest) => Promise<string>

/** Why a job cannot succeed any more, in the words of its `obsolete_reason`. */
export type Obsolete = { obsolete: string }

/** A kind of job that people ask for (shared/jobs/requested/README.md), declared. */
export type RequestedJob<Source extends object, Result> = {
  table: RequestedJobTable
  /**
   * Reads without a lock what the job is about; or says that it has moved already, before anything is paid. What is
   * computed of a large document takes `computeMs` of a processor at most.
   */
  load: (db: Queryable, key: RequestedJobKey, computeMs: number) => Promise<Source | Obsolete>
  /** Derives, outside any transaction. */
  compute: (source: Source, ask: Ask) => Promise<Result>
  /** Locks the source in the order of decisions B and compares it with the loaded one; null when nothing has moved. */
  moved: (tx: Transaction, input: { key: RequestedJobKey; source: Source }) => Promise<string | null>
  /** Writes the result, the sources and the job's row being locked; returns how the job ends. */
  write: (
    tx: Transaction,
    input: { key: RequestedJobKey; source: Source; result: Result },
  ) => Promise<jobs.RequestedJobEnd>
  /** In the transaction in which the worker is done with a job, however it ended and whoever ended it. */
  ended?: (tx: Transaction, key: RequestedJobKey) => Promise<void>
}

/** Points at which a test can make the source move, or a process die. */
export type RequestedJobHooks = { beforeCommit?: (key: RequestedJobKey) => Promise<void> }

/**
 * Makes a worker of a kind of job: claim, load, ask the model, then lock the source and write only if nothing has moved.
 * Slow jobs are taken one by one, so that none sits claimed in a process that is busy with others.
 */
export function defineRequestedJob<Source extends object, Result>(
  kind: RequestedJob<Source, Result>,
  hooks: RequestedJobHooks = {},
): Worker {
  const { queue } = kind.table
  return {
    name: queue.name,
    async start(runtime) {
      const stopping = new AbortController()
      const { signal } = stopping
      const run = (_: Runtime, job: Job<RequestedJobKey>) => new Attempt({ kind, runtime, job, signal, hooks }).run()
      const stop = await defineWorker<RequestedJobKey>({ queue, slow: true, run }).start(runtime)
      return async () => {
        stopping.abort()
        await stop()
      }
    },
  }
}

type Context<Source extends object, Result> = {
  kind: RequestedJob<Source, Result>
  runtime: Runtime
  job: Job<RequestedJobKey>
  /** Aborts when the process is to end. */
  signal: AbortSignal
  hooks: RequestedJobHooks
}

/** One attempt at one job. */
class Attempt<Source extends object, Result> {
  readonly #context: Context<Source, Result>
  readonly #row: jobs.RequestedJobAttempt

  constructor(context: Context<Source, Result>) {
    this.#context = context
    this.#row = { table: context.kind.table, key: context.job.data, attempt: jobs.attemptOf(context.job) }
  }

  async run(): Promise<JobOutcome | ExplainedOutcome> {
    const { runtime, kind, job, signal } = this.#context
    const queue = kind.table.queue.name
    if (!(await jobs.claim(runtime.database, { ...this.#row, queue, job }))) return this.#settle(async () => null)
    const { workspace_id: workspaceId, job_id: userId } = job.data
    try {
      // Among what else is computed, jobs of different workspaces take turns.
      return await onBehalfOf({ workspaceId, userId }, () => this.#work())
    } catch (error) {
      if (signal.aborted) return this.#release()
      if (error instanceof ComputationLimitError) {
        const ended = await this.#settle(async () => ({ status: 'failed', code: 'document_too_large' }))
        return { ...ended, causes: causesOf(error) }
      }
      if (!(error instanceof ModelError)) throw error
      if (error.transient && job.retryCount < (kind.table.queue.options.retryLimit ?? 0)) throw error
      const ended = await this.#settle(async () => ({ status: 'failed', code: error.code }))
      return { ...ended, causes: causesOf(error) }
    }
  }

  async #work(): Promise<ExplainedOutcome> {
    const { runtime, kind, job, hooks } = this.#context
    const key = job.data
    if (!(await jobs.requesterMayWrite(runtime.database, this.#row))) return this.#settle(async () => revoked)
    const source = await kind.load(runtime.database, key, runtime.config.WORKER_COMPUTE_MS)
    if ('obsolete' in source) return this.#settle(async () => ({ status: 'obsolete', reason: source.obsolete }))
    const result = await kind.compute(source, await this.#asker())
    await hooks.beforeCommit?.(key)
    return this.#settle(
      async (tx) => {
        if (!(await jobs.requesterMayWrite(tx, this.#row))) return revoked
        return kind.write(tx, { key, source, result })
      },
      (tx) => kind.moved(tx, { key, source }),
    )
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
   * Ends the job in one transaction with pg-boss's, fenced by the attempt. One that was ended meanwhile stays as it is
   * and nothing is written; `decide` returns null for one that could not be claimed.
   */
  async #settle(
    decide: (tx: Transaction) => Promise<jobs.RequestedJobEnd | null>,
    moved: (tx: Transaction) => Promise<string | null> = async () => null,
  ): Promise<ExplainedOutcome> {
    const { runtime, kind, job } = this.#context
    const { queue } = kind.table
    return inTransaction(runtime.database, async (tx): Promise<ExplainedOutcome> => {
      const reason = await moved(tx)
      const end = await this.#endUnlessEnded(tx, () =>
        reason === null ? decide(tx) : Promise.resolve({ status: 'obsolete', reason }),
      )
      await jobs.settleAnswers(tx, this.#row)
      await kind.ended?.(tx, job.data)
      const outcome = end === null ? 'gone' : outcomes[end.status]
      await completeAttempt(tx, { runtime, queue, job, outcome })
      return { outcome, ...reasonOf(end) }
    })
  }

  async #endUnlessEnded(
    tx: Transaction,
    decide: () => Promise<jobs.RequestedJobEnd | null>,
  ): Promise<jobs.RequestedJobEnd | { status: HeldStatus } | null> {
    const held = await jobs.lockJob(tx, this.#row)
    if (held === null) return null
    if (held.status !== 'pending' && held.status !== 'running') return { status: held.status }
    if (held.attempt !== this.#row.attempt) throw new FencedError(`another attempt has job ${this.#row.key.job_id}`)
    const end = await decide()
    if (end === null) return null
    await jobs.endJob(tx, { ...this.#row, end })
    return end
  }

  // A new job of pg-boss: what a deploy interrupts starts again at once, and its retries are not used up.
  async #release(): Promise<JobOutcome> {
    const { runtime, kind, job } = this.#context
    const { queue } = kind.table
    return inTransaction(runtime.database, async (tx): Promise<JobOutcome> => {
      await jobs.releaseJob(tx, this.#row)
      await completeAttempt(tx, { runtime, queue, job, outcome: 'released' })
      await enqueueRequestedJob({ tx, jobs: runtime.jobs }, { queue, key: job.data })
      return 'released'
    })
  }
}

type HeldStatus = keyof typeof outcomes

function reasonOf(end: jobs.RequestedJobEnd | { status: HeldStatus } | null): { reason?: string } {
  if (end === null) return {}
  if ('code' in end) return { reason: end.code }
  return 'reason' in end ? { reason: end.reason } : {}
}

const revoked: jobs.RequestedJobEnd = { status: 'failed', code: 'access_revoked' }

const outcomes = {
  pending: 'gone',
  running: 'gone',
  succeeded: 'done',
  failed: 'failed',
  obsolete: 'obsolete',
} as const
