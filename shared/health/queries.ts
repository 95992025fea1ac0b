import Type from 'typebox'
import { type Queryable, sql } from '../database/database.ts'
import { row } from '../database/row.ts'
import { requestedJobTables } from '../jobs/requested/tables.ts'
import { workerTypeNames } from '../process/process-types.ts'

/** Resolves when PostgreSQL answers. */
export async function answer(db: Queryable): Promise<void> {
  await db.query(sql.unsafe`SELECT 1`)
}

/** Whether PostgreSQL takes writes: it is no standby, and nobody has set the database or the role to read-only. */
export function takesWrites(db: Queryable): Promise<boolean> {
  return db.oneFirst(sql.type(row(Type.Object({ writable: Type.Boolean() })))`
    SELECT NOT pg_is_in_recovery() AND NOT current_setting('transaction_read_only')::boolean AS writable`)
}

/** Names of the migrations that were applied. */
export function appliedMigrations(db: Queryable): Promise<readonly string[]> {
  return db.anyFirst(sql.type(row(Type.Object({ name: Type.String() })))`SELECT name FROM schema_migrations`)
}

/** Names of the queues that exist. */
export function queueNames(db: Queryable): Promise<readonly string[]> {
  return db.anyFirst(sql.type(row(Type.Object({ name: Type.String() })))`SELECT name FROM pgboss.queue`)
}

/** The version of the schema of pg-boss. */
export function queueSchemaVersion(db: Queryable): Promise<number> {
  return db.oneFirst(sql.type(row(Type.Object({ version: Type.Integer() })))`SELECT version FROM pgboss.version`)
}

const QueueLoadRow = row(
  Type.Object({
    name: Type.String(),
    waiting: Type.Integer(),
    oldest_seconds: Type.Number(),
    active: Type.Integer(),
    dead: Type.Integer(),
  }),
)

/**
 * The load of every queue that has a dead-letter queue, which are ours: jobs that wait, for how long the oldest one
 * has been due, jobs that run, and jobs whose retries are used up. Each is counted through a partial index that
 * finished jobs are not in. Of the jobs in a dead-letter queue, which are kept for weeks, no more than 10,000 are
 * counted.
 */
export function queueLoads(db: Queryable) {
  return db.any(sql.type(QueueLoadRow)`
    SELECT queue.name, waiting.count AS waiting, waiting.oldest_seconds, active.count AS active, dead.count AS dead
    FROM pgboss.queue
    CROSS JOIN LATERAL (
      SELECT count(*),
        coalesce(extract(epoch FROM now() - min(greatest(created_on, start_after))
          FILTER (WHERE start_after <= now())), 0)::float8 AS oldest_seconds
      FROM pgboss.job WHERE job.name = queue.name AND state < 'active' AND NOT blocked
    ) AS waiting
    CROSS JOIN LATERAL (
      SELECT count(*) FROM pgboss.job WHERE job.name = queue.name AND state = 'active'
    ) AS active
    CROSS JOIN LATERAL (
      SELECT count(*) FROM (
        SELECT FROM pgboss.job WHERE job.name = queue.dead_letter AND state < 'active' AND NOT blocked LIMIT 10000
      ) AS kept
    ) AS dead
    WHERE queue.dead_letter IS NOT NULL
    ORDER BY queue.name`)
}

const FailedRow = row(Type.Object({ queue: Type.String(), failed: Type.Integer() }))

/**
 * How many jobs that people asked for have failed and are still kept, by queue; no more than 10,000 of each are counted,
 * through a partial index.
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

/** For how long the oldest event has waited for its number, and the stalest document for a worker; 0 for none. */
export function lags(db: Queryable) {
  return db.one(sql.type(LagRow)`
    SELECT
      coalesce(extract(epoch FROM now() - (
        SELECT created_at FROM events WHERE event_id IS NULL ORDER BY row_no LIMIT 1)), 0)::float8 AS unnumbered_seconds,
      coalesce(extract(epoch FROM now() - (SELECT min(since) FROM stale_projections)), 0)::float8 AS stale_seconds`)
}

const SizeRow = row(Type.Object({ database: Type.Number(), attachments: Type.Number() }))

/** Bytes of the database on its disk and of all attachments. */
export function sizes(db: Queryable) {
  return db.one(sql.type(SizeRow)`
    SELECT pg_database_size(current_database()) AS database,
      (SELECT coalesce(sum(bytes), 0) FROM attachment_bytes)::float8 AS attachments`)
}

/**
 * Has a session of a worker process show that the process lives, under each of its types ($1): by shared locks, which
 * keep nobody waiting and which PostgreSQL gives back when the process dies.
 */
export const livenessStatement = `
  SELECT pg_advisory_lock_shared(hashtext('svc_live_processes'), hashtext(type)) FROM unnest($1::text[]) AS type`

/** The name of the sessions of one API process, by which it is told from others; `instance` is a word of its own. */
export function apiSessionName(instance: string): string {
  return `svc-api ${instance}`
}

const LiveRow = row(Type.Object({ type: Type.String(), processes: Type.Integer() }))

/** How many processes of each type are connected: API processes by the names of their sessions, workers by locks. */
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
    SELECT 'api', count(DISTINCT split_part(application_name, ' ', 2)) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name LIKE ${apiSessionName('%')}`)
}
