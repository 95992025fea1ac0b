import type { Job } from 'pg-boss'
import Type from 'typebox'
import { prepared, type Queryable, sql, type Transaction } from '../../database/database.ts'
import { row } from '../../database/row.ts'
import type { ModelAnswer } from '../../models/model.ts'
import { type Queue, queues, type RequestedJobKey } from '../queues.ts'
import { isRunning } from '../reads.ts'

/** A table of requested jobs, whose columns the README lists, and the queue that carries its jobs to workers. */
export type RequestedJobTable = { name: string; queue: Queue<RequestedJobKey> }

/** The table of summaries by a model. */
export const summaryJobs: RequestedJobTable = { name: 'summary_jobs', queue: queues.summariesModel }

/** The table of translations by a model. */
export const translationJobs: RequestedJobTable = { name: 'translation_jobs', queue: queues.translationsRun }

/** Every kind of requested job. */
export const requestedJobTables: readonly RequestedJobTable[] = [summaryJobs, translationJobs]

/** The table and the key of the row of a job. */
export type RequestedJobRow = { table: RequestedJobTable; key: RequestedJobKey }

const tableOf = ({ table }: RequestedJobRow) => sql.identifier([table.name])

/**
 * Claims an open job for an attempt, which the column `attempt` names `<id>:<retry count>`. Returns false when the job
 * has ended, or when pg-boss has given it to another attempt, so that a worker that was only asleep cannot take the job
 * back.
 */
export async function claim(
  db: Queryable,
  input: RequestedJobRow & { job: Pick<Job, 'id' | 'retryCount'> },
): Promise<boolean> {
  const { key, job, table } = input
  const result = await db.query(
    prepared(sql.unsafe`
    UPDATE ${tableOf(input)} SET status = 'running', attempt = ${`${job.id}:${job.retryCount}`},
      started_at = coalesce(started_at, clock_timestamp())
    WHERE workspace_id = ${key.workspace_id} AND id = ${key.job_id} AND finished_at IS NULL
      AND ${isRunning({ queue: table.queue.name, job })}`),
  )
  return result.rowCount === 1
}

const StatusRow = row(
  Type.Object({ status: Type.Unsafe<'pending' | 'running' | 'succeeded' | 'failed' | 'obsolete'>({}) }),
)

/** Locks the row of a job. Null when the row has outlived its retention. */
export function lockJob(tx: Transaction, input: RequestedJobRow) {
  return tx.maybeOne(
    prepared(sql.type(StatusRow)`
    SELECT status FROM ${tableOf(input)}
    WHERE workspace_id = ${input.key.workspace_id} AND id = ${input.key.job_id} FOR UPDATE`),
  )
}

/** The end of a job: its final status, and the cause as a code with a message or as an `obsolete_reason`. */
export type RequestedJobEnd =
  | { status: 'succeeded' }
  | { status: 'failed'; code: string; message?: string | undefined }
  | { status: 'obsolete'; reason: string }

/** Ends a job whose row the caller has locked by `lockJob`. */
export async function endJob(tx: Transaction, input: RequestedJobRow & { end: RequestedJobEnd }): Promise<void> {
  const { key, end } = input
  await tx.query(
    prepared(sql.unsafe`
    UPDATE ${tableOf(input)} SET status = ${end.status}, finished_at = clock_timestamp(),
      error_code = ${end.status === 'failed' ? end.code : null},
      error_message = ${end.status === 'failed' ? (end.message ?? null) : null},
      obsolete_reason = ${end.status === 'obsolete' ? end.reason : null}
    WHERE workspace_id = ${key.workspace_id} AND id = ${key.job_id}`),
  )
}

/** Gives a running job back: it is pending again, for any process. */
export async function releaseJob(tx: Transaction, input: RequestedJobRow): Promise<void> {
  await tx.query(sql.unsafe`
    UPDATE ${tableOf(input)} SET status = 'pending', attempt = NULL
    WHERE workspace_id = ${input.key.workspace_id} AND id = ${input.key.job_id} AND finished_at IS NULL`)
}

const RequesterRow = row(Type.Object({ may_write: Type.Boolean() }))

/** Tells whether the requester of a job still has a writing role in its workspace. */
export async function requesterMayWrite(db: Queryable, input: RequestedJobRow): Promise<boolean> {
  return db.oneFirst(
    prepared(sql.type(RequesterRow)`
    SELECT EXISTS (
      SELECT FROM ${tableOf(input)} j
      JOIN memberships m ON m.workspace_id = j.workspace_id AND m.user_id = j.requested_by
      WHERE j.workspace_id = ${input.key.workspace_id} AND j.id = ${input.key.job_id} AND m.role IN ('owner', 'editor')
    ) AS may_write`),
  )
}

const AnswerRow = row(
  Type.Object({
    request_hash: Type.String(),
    text: Type.String(),
    input_tokens: Type.Number(),
    output_tokens: Type.Number(),
  }),
)

/** Reads the answers of the model that earlier attempts have paid for, by the hash of the request. */
export async function paidAnswers(db: Queryable, key: RequestedJobKey): Promise<Map<string, ModelAnswer>> {
  const rows = await db.any(sql.type(AnswerRow)`
    SELECT request_hash, text, input_tokens, output_tokens FROM model_answers
    WHERE workspace_id = ${key.workspace_id} AND job_id = ${key.job_id}`)
  return new Map(rows.map(({ request_hash, text, ...usage }) => [request_hash, { text, usage }]))
}

/** Stores an answer of the model until its job has ended. */
export async function keepAnswer(
  db: Queryable,
  key: RequestedJobKey,
  paid: { hash: string; answer: ModelAnswer },
): Promise<void> {
  const { text, usage } = paid.answer
  await db.query(sql.unsafe`
    INSERT INTO model_answers (workspace_id, job_id, request_hash, text, input_tokens, output_tokens)
    VALUES (${key.workspace_id}, ${key.job_id}, ${paid.hash}, ${text}, ${usage.input_tokens}, ${usage.output_tokens})
    ON CONFLICT DO NOTHING`)
}

/** Writes the tokens of all answers to the row of a job and deletes the answers. */
export async function settleAnswers(tx: Transaction, input: RequestedJobRow): Promise<void> {
  const { key } = input
  await tx.query(sql.unsafe`
    WITH paid AS (
      DELETE FROM model_answers WHERE workspace_id = ${key.workspace_id} AND job_id = ${key.job_id}
      RETURNING input_tokens, output_tokens
    )
    UPDATE ${tableOf(input)} SET usage = total.usage
    FROM (
      SELECT jsonb_build_object('input_tokens', sum(input_tokens), 'output_tokens', sum(output_tokens)) AS usage
      FROM paid HAVING count(*) > 0
    ) AS total
    WHERE workspace_id = ${key.workspace_id} AND id = ${key.job_id}`)
}

/**
 * Deletes jobs that ended more than `days` ago, or answers that no worker came back to settle, up to `batch` a call.
 * Returns their number.
 */
export async function deleteOld(
  db: Queryable,
  { from, days, batch }: { from: RequestedJobTable | 'model_answers'; days: number; batch: number },
): Promise<number> {
  const [name, since] = from === 'model_answers' ? [from, 'created_at'] : [from.name, 'finished_at']
  const table = sql.identifier([name])
  const result = await db.query(sql.unsafe`
    DELETE FROM ${table} WHERE ctid = ANY(ARRAY(
      SELECT ctid FROM ${table}
      WHERE ${sql.identifier([since])} < now() - make_interval(days => ${days}) LIMIT ${batch}))`)
  return result.rowCount
}
