import Type, { type Static } from 'typebox'
import { type Queryable, sql } from '../../database/database.ts'
import { row } from '../../database/row.ts'
import { Nullable, Time } from '../../schema/identifiers.ts'
import type { Jobs } from '../send.ts'
import type { RequestedJobRow } from './queries.ts'

const codes = ['model_error', 'model_timeout', 'model_bad_output', 'service_unavailable', 'internal_error'] as const
type Code = (typeof codes)[number]

/** The members of a job in the API that tell its attempts. */
export const progressMembers = {
  attempt: Type.Integer({ minimum: 0, description: 'which attempt runs or has run last; 0 before the first' }),
  next_attempt_at: Nullable(Time),
  last_error: Nullable(
    Type.Object(
      { code: Type.Enum([...codes]), message: Type.String() },
      { description: 'why the attempt before failed; null when none has failed, and once the job has ended' },
    ),
  ),
}
const Progress = Type.Object(progressMembers)
export type Progress = Static<typeof Progress>

/** The progress of a job whose first attempt has not begun. */
export const notBegun: Progress = { attempt: 0, next_attempt_at: null, last_error: null }

const AttemptRow = row(Type.Object({ attempt: Nullable(Type.String()), is_open: Type.Boolean() }))

/** Reads the progress of a job; `notBegun` when its row does not exist. */
export async function progressOf(
  { database, jobs }: { database: Queryable; jobs: Jobs },
  { table, key }: RequestedJobRow,
): Promise<Progress> {
  const found = await database.maybeOne(sql.type(AttemptRow)`
    SELECT attempt, finished_at IS NULL AS is_open FROM ${sql.identifier([table.name])}
    WHERE workspace_id = ${key.workspace_id} AND id = ${key.job_id}`)
  if (found === null || found.attempt === null) return notBegun
  const [id = '', retryCount] = found.attempt.split(':')
  const [job] = found.is_open ? await jobs.boss.findJobs(table.queue.name, { id }) : []
  return {
    attempt: Number(retryCount) + 1,
    next_attempt_at: job?.state === 'retry' ? Number(job.startAfter) : null,
    last_error: job?.output ? errorOf(job.output) : null,
  }
}

function errorOf({ code }: { code?: unknown }): Progress['last_error'] {
  const known = codes.find((candidate) => candidate === code) ?? 'internal_error'
  return { code: known, message: messages[known] }
}

const messages: Record<Code, string> = {
  model_error: 'The model provider failed.',
  model_timeout: 'The model took too long.',
  model_bad_output: 'The model gave no usable answer.',
  service_unavailable: 'The database of the service could not be used.',
  internal_error: 'The attempt failed or its worker ended.',
}
