import Type from 'typebox'
import { type Queryable, sql } from '../database.ts'
import { row } from '../row.ts'

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
