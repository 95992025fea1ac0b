import Type from 'typebox'
import { type Queryable, sql } from '../../shared/database/database.ts'
import { row } from '../../shared/database/row.ts'
import type { Queue } from '../../shared/jobs/queues.ts'

/*
 * What workers ask of pg-boss's table of jobs themselves. test/workers/pg-boss.test.ts holds it against what pg-boss
 * does.
 */

/**
 * The statement that takes due jobs of a queue ($1), at most so many ($2), as pg-boss's own fetch does, with two
 * differences. A job whose key is active is passed over by asking the table, where pg-boss asks what its monitor noted
 * of the queue some time ago. And each attempt that begins is marked by an advisory lock of the session, so that others
 * see at once when its process has died. It can fail with a unique violation when another process took the same key.
 */
export function claimStatement({ options }: Queue<object>): string {
  const serial = options.policy === 'singleton'
  return `
    WITH next AS (
      SELECT j.id, j.singleton_key FROM pgboss.job j
      WHERE j.name = $1 AND j.state < 'active' AND NOT j.blocked AND j.start_after <= now()${serial ? keyIsFree : ''}
      ORDER BY j.priority DESC, j.created_on LIMIT $2
      FOR UPDATE OF j SKIP LOCKED
    ), ranked AS (
      SELECT id, ${serial ? 'row_number() OVER (PARTITION BY singleton_key)' : '1'} AS place FROM next
    ), claimed AS (
      UPDATE pgboss.job j SET
        state = 'active', started_on = now(), heartbeat_on = now(),
        retry_count = CASE WHEN started_on IS NOT NULL THEN retry_count + 1 ELSE retry_count END
      FROM ranked WHERE j.name = $1 AND j.id = ranked.id AND ranked.place = 1
      RETURNING j.id, j.name, j.data, j.retry_count AS "retryCount", j.expire_seconds AS "expireInSeconds",
        j.heartbeat_seconds AS "heartbeatSeconds", j.group_id AS "groupId", j.group_tier AS "groupTier"
    )
    SELECT claimed.*, pg_advisory_lock(hashtextextended(id || ':' || "retryCount", 0)) AS mark FROM claimed`
}

const keyIsFree = `
        AND NOT EXISTS (
          SELECT FROM pgboss.job a
          WHERE a.name = $1 AND a.policy = 'singleton' AND a.state = 'active'
            AND coalesce(a.singleton_key, '') = coalesce(j.singleton_key, ''))`

/** Marks attempts ($1, as `id:attempt`) again in a new session; those that the old one still holds are left out. */
export const markStatement = `
  SELECT key FROM unnest($1::text[]) AS key WHERE pg_try_advisory_lock(hashtextextended(key, 0))`

/** Takes the marks of attempts ($1, as `id:attempt`) away. */
export const unmarkStatement = `SELECT pg_advisory_unlock(hashtextextended(key, 0)) FROM unnest($1::text[]) AS key`

/**
 * For each queue of a list ($1): in how many milliseconds its next job is due, negative when it is overdue, null where
 * none waits; and whether jobs of any queue are running.
 */
export const nextDueStatement = `
  SELECT name, (
    SELECT extract(epoch FROM start_after - now())::float8 * 1000 FROM pgboss.job
    WHERE job.name = queue.name AND state < 'active' AND NOT blocked ORDER BY start_after LIMIT 1
  ) AS milliseconds, EXISTS (SELECT FROM pgboss.job WHERE state = 'active') AS running
  FROM unnest($1::text[]) AS queue (name)`

/** A row of the answer. */
export type NextDue = { name: string; milliseconds: number | null; running: boolean }

/** Why an attempt counts as given up. */
export type Lapse = 'orphaned' | 'expired' | 'silent'

const ActiveRow = row(
  Type.Object({
    queue: Type.String(),
    id: Type.String(),
    retryCount: Type.Integer(),
    lapse: Type.Union([Type.Unsafe<Lapse>({}), Type.Null()]),
  }),
)

/**
 * Every running attempt, and why it counts as given up, if it does: nobody holds its mark, it has taken longer than
 * its queue allows, or its heartbeat is missing. Processes of earlier versions mark an attempt only after they have
 * taken it, for which they have two seconds.
 */
export function activeAttempts(db: Queryable) {
  return db.any(sql.type(ActiveRow)`
    WITH active AS MATERIALIZED (
      SELECT name, id, retry_count, started_on, heartbeat_on, expire_seconds, heartbeat_seconds
      FROM pgboss.job WHERE state = 'active'
    )
    SELECT name AS queue, id, retry_count AS "retryCount",
      CASE
        WHEN started_on + expire_seconds * interval '1 second' < now() THEN 'expired'
        WHEN heartbeat_on + heartbeat_seconds * interval '1 second' < now() THEN 'silent'
        WHEN started_on < now() - interval '2 seconds'
          AND pg_try_advisory_xact_lock(hashtextextended(id || ':' || retry_count, 0)) THEN 'orphaned'
      END AS lapse
    FROM active`)
}

/** Makes jobs due that wait for a retry. */
export async function retryNow(db: Queryable, jobs: { queue: string; ids: readonly string[] }): Promise<void> {
  await db.query(sql.unsafe`
    UPDATE pgboss.job SET start_after = now()
    WHERE name = ${jobs.queue} AND state = 'retry' AND id = ANY(${sql.array([...jobs.ids], 'uuid')})`)
}

/** Uses up the retries of attempts, so that failing them leads to the dead-letter queue. */
export async function exhaustRetries(
  db: Queryable,
  jobs: { queue: string; attempts: readonly { id: string; retryCount: number }[] },
): Promise<void> {
  const ids = jobs.attempts.map(({ id }) => id)
  const retryCounts = jobs.attempts.map(({ retryCount }) => retryCount)
  await db.query(sql.unsafe`
    UPDATE pgboss.job SET retry_limit = job.retry_count
    FROM unnest(${sql.array(ids, 'uuid')}, ${sql.array(retryCounts, 'int4')}) AS attempt (id, retry_count)
    WHERE job.name = ${jobs.queue} AND job.id = attempt.id AND job.retry_count = attempt.retry_count
      AND job.state = 'active'`)
}

/** Deletes finished jobs that have been kept as long as their queue says, at most `batch` a call; returns how many. */
export async function deleteFinishedJobs(db: Queryable, { batch }: { batch: number }): Promise<number> {
  const result = await db.query(sql.unsafe`
    DELETE FROM pgboss.job_common WHERE ctid = ANY(ARRAY(
      SELECT ctid FROM pgboss.job_common
      WHERE completed_on IS NOT NULL AND deletion_seconds > 0
        AND (completed_on AT TIME ZONE 'UTC') + deletion_seconds * interval '1 second' < now() AT TIME ZONE 'UTC'
      LIMIT ${batch}))`)
  return result.rowCount
}

/** Deletes jobs that nobody has taken within the retention of their queue, at most `batch` a call; returns how many. */
export async function deleteForgottenJobs(db: Queryable, { batch }: { batch: number }): Promise<number> {
  const result = await db.query(sql.unsafe`
    DELETE FROM pgboss.job_common WHERE ctid = ANY(ARRAY(
      SELECT job.ctid FROM pgboss.queue CROSS JOIN LATERAL (
        SELECT job.ctid FROM pgboss.job_common AS job
        WHERE job.name = queue.name AND state < 'active' AND NOT blocked
          AND start_after < now() - queue.retention_seconds * interval '1 second' AND keep_until < now()
        ORDER BY start_after LIMIT ${batch}) AS job
      LIMIT ${batch}))`)
  return result.rowCount
}
