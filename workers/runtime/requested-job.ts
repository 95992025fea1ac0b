import { createHash } from 'node:crypto'
import type { Job } from 'pg-boss'
import { type Ahead, computingAhead } from '../../shared/computations/ahead.ts'
import { ComputationLimitError } from '../../shared/computations/computation.ts'
import { inTransaction, type Queryable, type Transaction } from '../../shared/database/database.ts'
import { causesOf } from '../../shared/errors/causes.ts'
import { deadLetterOf, type RequestedJobKey } from '../../shared/jobs/queues.ts'
import * as jobs from '../../shared/jobs/requested/queries.ts'
import { enqueueRequestedJob } from '../../shared/jobs/send.ts'
import { ModelError, type ModelRequest } from '../../shared/models/model.ts'
import { onBehalfOf } from '../../shared/turns/requester.ts'
import { type Runtime, stopAll, type Worker } from './runtime.ts'
import { completeAttempts, defineWorker, type ExplainedOutcome } from './work.ts'

/** Asks the model, or returns the stored answer that an earlier attempt at the job got to the same request. */
export type Ask = (request: ModelRequest) => Promise<string>

/** Says that a job cannot succeed any more; `obsolete` is its `obsolete_reason`. */
export type Obsolete = { obsolete: string }

/**
 * A kind of requested job (`shared/jobs/requested/README.md`). `defineRequestedJob` makes a worker of it, which calls
 * the members in the order in which they stand here. A computation of more than WORKER_COMPUTE_MS ends the job with
 * `document_too_large`, and a `ModelError` that will not pass with its code. After any other error the job is tried
 * again.
 */
export type RequestedJob<Source extends object, Result> = {
  table: jobs.RequestedJobTable
  /** Reads what the job is about, without locks. Returns `Obsolete` when the source has moved already. */
  load: (db: Queryable, key: RequestedJobKey) => Promise<Source | Obsolete>
  /** Derives the result with the help of the model, outside any transaction. */
  compute: (source: Source, ask: Ask) => Promise<Result>
  /**
   * Locks the source and compares it with the loaded source. Locks are taken in this order: documents by id, units,
   * summaries. Slow results come from `ahead`, because the transaction must not compute them while it holds locks.
   * Returns the `obsolete_reason`, or null when nothing has moved.
   */
  moved: (tx: Transaction, input: { key: RequestedJobKey; source: Source; ahead: Ahead }) => Promise<string | null>
  /** Writes the result in the transaction of `moved`, while the job is locked, too. Returns how the job ends. */
  write: (
    tx: Transaction,
    input: { key: RequestedJobKey; source: Source; result: Result },
  ) => Promise<jobs.RequestedJobEnd>
  /** Called last in the transaction that ends a job, whatever the end is. */
  ended?: (tx: Transaction, key: RequestedJobKey) => Promise<void>
}

/** How often a failure of the model that may pass is tried again. */
const maxModelRetries = 3

/** Makes the worker of a kind of requested job, which also ends its dead letters, so that nobody waits for them. */
export function defineRequestedJob<Source extends object, Result>(kind: RequestedJob<Source, Result>): Worker {
  const { queue } = kind.table
  const rowOf = (job: Job<RequestedJobKey>) => ({ table: kind.table, key: job.data })
  const attempts = defineWorker<RequestedJobKey>({
    queue,
    run: (runtime, job, stopping) => attemptJob({ kind, runtime, job, stopping, row: rowOf(job) }),
  })
  const deadLetters = defineWorker<RequestedJobKey>({
    queue: { name: deadLetterOf(queue), options: {} },
    run: (runtime, job, stopping) =>
      settle({ kind, runtime, job, stopping, row: rowOf(job) }, { end: { status: 'failed', code: 'model_error' } }),
  })
  return {
    name: queue.name,
    start: async (runtime) => stopAll([await attempts.start(runtime), await deadLetters.start(runtime)]),
  }
}

/** The end of a job whose requester has lost the writing role. */
const revoked: jobs.RequestedJobEnd = { status: 'failed', code: 'access_revoked' }

type Attempt<Source extends object, Result> = {
  kind: RequestedJob<Source, Result>
  runtime: Runtime
  job: Job<RequestedJobKey>
  stopping: AbortSignal
  row: jobs.RequestedJobRow
}

/**
 * What an attempt proposes before it has locked anything: to write a result of a source, or to end the job without a
 * result. `end` is null when the row of the job could not be claimed, so that there is nothing to end.
 */
type Proposal<Source, Result> = { source: Source; result: Result } | { end: jobs.RequestedJobEnd | null }

// Ends the job with the code of an error that will not pass. Throws any other error, so that pg-boss tries again. A
// process that stops gives the job back instead.
async function attemptJob<Source extends object, Result>(attempt: Attempt<Source, Result>): Promise<ExplainedOutcome> {
  const { runtime, job, row, stopping } = attempt
  const limit = { mostMs: runtime.config.WORKER_COMPUTE_MS }
  try {
    if (!(await jobs.claim(runtime.database, { ...row, job }))) return await settle(attempt, { end: null })
    return await onBehalfOf(job.data.workspace_id, async () => settle(attempt, await propose(attempt)), limit)
  } catch (error) {
    const code = codeOf(error)
    const mayPass = error instanceof ModelError && error.transient && job.retryCount < maxModelRetries
    if (stopping.aborted) return await release(attempt)
    if (code === null || mayPass) throw error
    const ended = await settle(attempt, { end: { status: 'failed', code, message: messageOf(error) } })
    return { ...ended, causes: causesOf(error) }
  }
}

// Gives the job of a process that stops to another process at once, as a new job of pg-boss. That uses up no retry.
function release<Source extends object, Result>(attempt: Attempt<Source, Result>): Promise<ExplainedOutcome> {
  const { kind, runtime, job, row } = attempt
  return inTransaction(runtime.database, async (tx) => {
    await jobs.releaseJob(tx, row)
    await enqueueRequestedJob({ tx, jobs: runtime.jobs }, { queue: kind.table.queue, key: row.key })
    await completeAttempts(tx, { jobs: runtime.jobs, attempts: [job] })
    return { outcome: 'released' }
  })
}

// Derives the result without a lock. Looks for what would make the result worthless before the model is paid.
async function propose<Source extends object, Result>(
  attempt: Attempt<Source, Result>,
): Promise<Proposal<Source, Result>> {
  const { runtime, kind, row } = attempt
  if (!(await jobs.requesterMayWrite(runtime.database, row))) return { end: revoked }
  const source = await kind.load(runtime.database, row.key)
  if ('obsolete' in source) return { end: obsolete(source.obsolete) }
  return { source, result: await kind.compute(source, await askOf(attempt)) }
}

async function askOf<Source extends object, Result>(attempt: Attempt<Source, Result>): Promise<Ask> {
  const { runtime, row, stopping } = attempt
  const paid = await jobs.paidAnswers(runtime.database, row.key)
  return async (request) => {
    const hash = createHash('sha256').update(JSON.stringify(request)).digest('base64url')
    const stored = paid.get(hash)
    if (stored !== undefined) return stored.text
    const answer = await runtime.models.ask(request, stopping)
    await jobs.keepAnswer(runtime.database, row.key, { hash, answer })
    return answer.text
  }
}

// Locks the sources and then the row of the job, as writes do, decides what becomes of the job, and completes pg-boss's
// job, in one transaction. A job that was ended meanwhile stays as it is. An attempt whose job pg-boss has given to
// another attempt is fenced off by `completeAttempts`.
function settle<Source extends object, Result>(
  { runtime, kind, job, row }: Attempt<Source, Result>,
  proposal: Proposal<Source, Result>,
): Promise<ExplainedOutcome> {
  const inOne = async (tx: Transaction, ahead: Ahead): Promise<ExplainedOutcome> => {
    const { key } = row
    const reason = 'source' in proposal ? await kind.moved(tx, { key, source: proposal.source, ahead }) : null
    const locked = await jobs.lockJob(tx, row)
    const isOpen = locked?.status === 'pending' || locked?.status === 'running'
    const decided = reason === null ? () => accept(tx, { kind, row, proposal }) : () => obsolete(reason)
    const end = isOpen ? await decided() : null
    if (end !== null) await jobs.endJob(tx, { ...row, end })
    await jobs.settleAnswers(tx, row)
    await kind.ended?.(tx, key)
    await completeAttempts(tx, { jobs: runtime.jobs, attempts: [job] })
    return explained(end ?? locked)
  }
  return computingAhead((ahead) => inTransaction(runtime.database, (tx) => inOne(tx, ahead)))
}

// Carries out a proposal whose source has not moved.
async function accept<Source extends object, Result>(
  tx: Transaction,
  input: Pick<Attempt<Source, Result>, 'kind' | 'row'> & { proposal: Proposal<Source, Result> },
): Promise<jobs.RequestedJobEnd | null> {
  const { kind, row, proposal } = input
  if ('end' in proposal) return proposal.end
  if (!(await jobs.requesterMayWrite(tx, row))) return revoked
  return kind.write(tx, { key: row.key, ...proposal })
}

function obsolete(reason: string): jobs.RequestedJobEnd {
  return { status: 'obsolete', reason }
}

function messageOf(error: unknown): string | undefined {
  return error instanceof ModelError ? error.message : undefined
}

function codeOf(error: unknown): string | null {
  if (error instanceof ComputationLimitError) return 'document_too_large'
  return error instanceof ModelError ? error.code : null
}

/** The outcome of an attempt, by the status that the job has after the attempt. */
const outcomes = {
  pending: 'gone',
  running: 'gone',
  succeeded: 'done',
  failed: 'failed',
  obsolete: 'obsolete',
} as const

// Turns the end of a job into the outcome of the attempt. A job that was ended by somebody else has no reason here,
// because the reason was reported when it ended.
function explained(end: jobs.RequestedJobEnd | { status: keyof typeof outcomes } | null): ExplainedOutcome {
  if (end === null) return { outcome: 'gone' }
  const outcome = outcomes[end.status]
  if ('code' in end) return { outcome, reason: end.code }
  return 'reason' in end ? { outcome, reason: end.reason } : { outcome }
}
