import Type from 'typebox'
import { type Queryable, sql } from '../database/database.ts'
import { row } from '../database/row.ts'
import { requestedJobTables } from '../jobs/requested/queries.ts'
import { workerTypeNames } from '../process/process-types.ts'

/** Resolves when PostgreSQL answers. */
export async function answer(db: Queryable): Promise<void> {
  await db.query(sql.unsafe`SELECT 1`)
}

/** Whether PostgreSQL takes writes: it is no standby, and neither the database nor the role is read-only. */
export function takesWrites(db: Queryable): Promise<boolean> {
  return db.oneFirst(sql.type(row(Type.Object({ writable: Type.Boolean() })))`
    SELECT NOT pg_is_in_recovery() AND NOT current_setting('transaction_read_only')::boolean AS writable`)
}

/** The names of all applied migrations. */
export function appliedMigrations(db: Queryable): Promise<readonly string[]> {
  return db.anyFirst(sql.type(row(Type.Object({ name: Type.String() })))`SELECT name FROM schema_migrations`)
}

const FailedRow = row(Type.Object({ queue: Type.String(), failed: Type.Integer() }))

/**
 * The number of failed requested jobs that are still kept, by queue. A partial index serves the counts, up to 10,000.
 */
export function failedRequestedJobs(db: Queryable) {
  const counts = requestedJobTables.map(
    ({ name, queue }) => sql.fragment`
      SELECT ${queue.name}::text AS queue, count(*) AS failed
      FROM (SELECT FROM ${sql.identifier([name])} WHERE status = 'failed' LIMIT 10000) AS kept`,
  )
  return db.any(sql.type(FailedRow)`${sql.join(counts, sql.fragment` UNION ALL `)}`)
}

const LagRow = row(Type.Object({ unnumbered_seconds: Type.Number(), stale_seconds: Type.Number() }))

/**
 * The seconds that the oldest event without a number has waited for its number. Also the seconds that the document that
 * has been stale longest has waited for a worker. Each is 0 when nothing waits.
 */
export function lags(db: Queryable) {
  return db.one(sql.type(LagRow)`
    SELECT
      coalesce(extract(epoch FROM now() - (
        SELECT created_at FROM events WHERE event_id IS NULL ORDER BY row_no LIMIT 1)), 0)::float8 AS unnumbered_seconds,
      coalesce(extract(epoch FROM now() - (SELECT min(since) FROM stale_projections)), 0)::float8 AS stale_seconds`)
}

const SizeRow = row(Type.Object({ database: Type.Number(), attachments: Type.Number() }))

/** The size of the database on its disk and of all attachments, in bytes. */
export function sizes(db: Queryable) {
  return db.one(sql.type(SizeRow)`
    SELECT pg_database_size(current_database()) AS database,
      (SELECT coalesce(sum(bytes), 0) FROM attachment_bytes)::float8 AS attachments`)
}

/**
 * Marks the session of a worker process as living, under each of its worker types ($1). The marks are shared advisory
 * locks: nobody waits for them, and PostgreSQL releases them when the process dies.
 */
export const livenessStatement = `
  SELECT pg_advisory_lock_shared(hashtext('svc_live_processes'), hashtext(type)) FROM unnest($1::text[]) AS type`

/** The processes beside the workers, which are counted by the names of their database sessions. */
const sessionTypes = ['api', 'collab'] as const

/** The name of the database sessions of one process. `instance` is a word that no other process has. */
export function sessionName(type: (typeof sessionTypes)[number], instance: string): string {
  return `svc-${type} ${instance}`
}

const LiveRow = row(Type.Object({ type: Type.String(), processes: Type.Integer() }))

/** The number of connected processes of each type. Workers are counted by locks, the others by session names. */
export function liveProcesses(db: Queryable) {
  return db.any(sql.type(LiveRow)`
    SELECT type, (
      SELECT count(*) FROM pg_locks
      WHERE locktype = 'advisory' AND objsubid = 2 AND granted AND classid = hashtext('svc_live_processes')::oid
        AND objid = hashtext(type)::oid
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    ) AS processes
    FROM ${sql.unnest(
      workerTypeNames.map((type) => [type]),
      ['text'],
    )} AS worker (type)
    UNION ALL
    SELECT type, (
      SELECT count(DISTINCT split_part(application_name, ' ', 2)) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name LIKE pattern
    )
    FROM ${sql.unnest(
      sessionTypes.map((type) => [type, sessionName(type, '%')]),
      ['text', 'text'],
    )} AS session (type, pattern)`)
}
