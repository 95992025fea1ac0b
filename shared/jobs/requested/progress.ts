import Type, { type Static } from 'typebox'
import { type Queryable, sql } from '../../database/database.ts'
import { row } from '../../database/row.ts'
import { Nullable, Time } from '../../schema/identifiers.ts'
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

const ProgressRow = row(
  Type.Object({
    attempt: Type.Integer(),
    next_attempt_at: Nullable(Type.Number()),
    has_failed: Type.Boolean(),
    outage: Type.Boolean(),
    code: Nullable(Type.String()),
  }),
)

/** Reads the progress of a job; `notBegun` when its row does not exist. */
export async function progressOf(db: Queryable, { table, key }: RequestedJobRow): Promise<Progress> {
  const found = await db.maybeOne(sql.type(ProgressRow)`
    SELECT coalesce(split_part(j.attempt, ':', 2)::int + 1, 0) AS attempt,
      CASE WHEN q.state = 'retry' THEN q.start_after END AS next_attempt_at,
      q.output IS NOT NULL AS has_failed, coalesce((q.output ->> 'outage')::boolean, false) AS outage,
      q.output ->> 'code' AS code
    FROM ${sql.identifier([table.name])} j
    LEFT JOIN pgboss.job q ON q.name = ${table.queue.name} AND q.id = split_part(j.attempt, ':', 1)::uuid
      AND j.finished_at IS NULL
    WHERE j.workspace_id = ${key.workspace_id} AND j.id = ${key.job_id}`)
  if (found === null) return notBegun
  const { attempt, next_attempt_at, has_failed } = found
  return { attempt, next_attempt_at, last_error: has_failed ? errorOf(found) : null }
}

function errorOf({ outage, code }: { outage: boolean; code: string | null }): Progress['last_error'] {
  const known = outage ? 'service_unavailable' : (codes.find((candidate) => candidate === code) ?? 'internal_error')
  return { code: known, message: messages[known] }
}

const messages: Record<Code, string> = {
  model_error: 'The model provider failed.',
  model_timeout: 'The model took too long.',
  model_bad_output: 'The model gave no usable answer.',
  service_unavailable: 'The database of the service could not be used.',
  internal_error: 'The attempt failed or its worker ended.',
}
