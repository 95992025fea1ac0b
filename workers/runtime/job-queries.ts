import Type from 'typebox'
import { type Queryable, sql } from '../../shared/database/database.ts'
import { row } from '../../shared/database/row.ts'
import type { DocumentJob, Queue } from '../../shared/jobs/queues.ts'

/*
 * The statements of the workers on pg-boss's table of jobs. test/workers/pg-boss.test.ts compares their effects with
 * the effects of pg-boss's own statements.
 */

/** A part of a queue: the jobs of documents that are known to be large, or all other jobs. */
export type Part = 'small' | 'large'

/**
 * The statement that claims due jobs of a queue: $1 is the queue, $2 the largest number of jobs. The statement claims
 * jobs by the rules of pg-boss's own fetch, with two differences. The statement reads from the table whether a job of
 * the same key is active, while pg-boss relies on older notes of its monitor. And the statement marks each attempt by
 * an advisory lock of the session, which PostgreSQL releases when the process dies. The statement fails with a unique
 * violation when another process has claimed a job of the same key meanwhile.
 *
 * Of several due jobs of one key, only the first is claimed. `found` also counts the due jobs that were not claimed for
 * this reason.
 *
 * The locked rows are updated at their places in the table (`ctid`), which is cheap under every plan. A row that
 * somebody else has just changed has another place and is left out. The change of such a row is announced, so the job
 * is claimed a moment later.
 *
 * For the part `large`, $3 names the workspaces whose jobs are left out. The statement looks for jobs of other
 * workspaces among the first hundred jobs, since the first jobs of each workspace have high priorities.
 */
export function claimStatement({ options }: Queue<object>, part?: Part): string {
  const serial = options.policy === 'singleton'
  return `
    WITH next AS (
      SELECT j.ctid AS place, j.singleton_key FROM pgboss.job_common j
      WHERE j.name = $1 AND j.state < 'active' AND NOT j.blocked AND j.start_after <= now()
        ${part === undefined ? '' : partConditions[part]}${serial ? keyIsFree : ''}
      ORDER BY j.priority DESC, j.created_on LIMIT $2
      FOR UPDATE OF j SKIP LOCKED
    ), ranked AS (
      SELECT place, ${serial ? 'row_number() OVER (PARTITION BY singleton_key)' : '1'} AS turn FROM next
    ), claimed AS (
      UPDATE pgboss.job_common j SET
        state = 'active', started_on = now(), heartbeat_on = now(),
        retry_count = CASE WHEN started_on IS NOT NULL THEN retry_count + 1 ELSE retry_count END
      FROM ranked WHERE j.ctid = ranked.place AND ranked.turn = 1
      RETURNING j.id, j.name, j.data, j.retry_count AS "retryCount", j.expire_seconds AS "expireInSeconds",
        j.heartbeat_seconds AS "heartbeatSeconds", j.group_id AS "groupId", j.group_tier AS "groupTier"
    )
    SELECT claimed.*, pg_advisory_lock(hashtextextended(id || ':' || "retryCount", 0)) AS mark,
      (SELECT count(*)::int FROM next) AS found
    FROM claimed`
}

/**
 * The priority of the first large document of a workspace. A document with a higher priority is not known to be large.
 * sql/queues/announcements.sql has the value too; test/workers/enqueue.test.ts checks that both are equal. @internal
 */
export const largePriority = -10
/**
 * The most by which waiting documents lower the priority of a large document. Each waiting document of the same
 * workspace lowers the priority by one.
 */
const mostBehind = 1000
/** The priority of a document whose computation went over its limit once. */
const lastPriority = largePriority - mostBehind - 1

const partConditions: Record<Part, string> = {
  small: `AND j.priority > ${largePriority}`,
  large: `AND j.priority <= ${largePriority} AND NOT j.data ->> 'workspace_id' = ANY($3::text[]) AND j.id IN (
          SELECT id FROM pgboss.job_common
          WHERE name = $1 AND state < 'active' AND NOT blocked AND start_after <= now() AND priority <= ${largePriority}
          ORDER BY priority DESC, created_on LIMIT 100)`,
}

const keyIsFree = `
        AND NOT EXISTS (
          SELECT FROM pgboss.job_common a
          WHERE a.name = $1 AND a.policy = 'singleton' AND a.state = 'active'
            AND coalesce(a.singleton_key, '') = coalesce(j.singleton_key, ''))`

/**
 * Marks attempts ($1, as `id:retry count`) in a new session, and returns the marked attempts. The old session still
 * holds the locks of all other attempts.
 */
export const markStatement = `
  SELECT key FROM unnest($1::text[]) AS key WHERE pg_try_advisory_lock(hashtextextended(key, 0))`

/** Removes the marks of attempts ($1, as `id:retry count`). */
export const unmarkStatement = `SELECT pg_advisory_unlock(hashtextextended(key, 0)) FROM unnest($1::text[]) AS key`

/**
 * Returns a row for each queue of a list ($1). `milliseconds` is the time until its next job is due: negative when the
 * job is overdue, null when no job waits. `running` says whether jobs of any queue are running.
 */
export const nextDueStatement = `
  SELECT name, (
    SELECT extract(epoch FROM start_after - now())::float8 * 1000 FROM pgboss.job
    WHERE job.name = queue.name AND state < 'active' AND NOT blocked ORDER BY start_after LIMIT 1
  ) AS milliseconds, EXISTS (SELECT FROM pgboss.job WHERE state = 'active') AS running
  FROM unnest($1::text[]) AS queue (name)`

/** A row of `nextDueStatement`. */
export type NextDue = { name: string; milliseconds: number | null; running: boolean }

/**
 * The cause by which an attempt counts as given up: its mark is gone, its time is over, or its heartbeat is missing.
 */
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
 * Returns every running attempt. `lapse` says why the attempt counts as given up, or is null. No session has the mark
 * of an `orphaned` attempt. An `expired` attempt has taken longer than its queue allows, and a `silent` attempt lacks
 * its heartbeat. Processes of earlier versions claim a job first and mark the attempt afterwards. So an attempt counts
 * as orphaned only two seconds after its start.
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

/** Makes jobs that wait for a retry due at once. */
export async function retryNow(db: Queryable, jobs: { queue: string; ids: readonly string[] }): Promise<void> {
  await db.query(sql.unsafe`
    UPDATE pgboss.job SET start_after = now()
    WHERE name = ${jobs.queue} AND state = 'retry' AND id = ANY(${sql.array([...jobs.ids], 'uuid')})`)
}

/** Uses up the retries of attempts, so that pg-boss moves their jobs to the dead-letter queue when they fail. */
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

/**
 * Gives attempts whose documents have turned out to be large back to the queue, to the part `large`. The fewer
 * documents of a workspace wait for the projection, the higher is the priority. The attempts use up no retries.
 */
export async function handOverLarge(
  db: Queryable,
  jobs: {
    queue: string
    projection: string
    attempts: readonly { id: string; retryCount: number; data: DocumentJob }[]
  },
): Promise<void> {
  const rows = jobs.attempts.map(({ id, retryCount, data }) => [id, retryCount, data.workspace_id])
  await db.query(sql.unsafe`
    WITH attempt AS (
      SELECT * FROM ${sql.unnest(rows, ['uuid', 'int4', 'text'])} AS a (id, retry_count, workspace_id)
    ), behind AS (
      SELECT w.workspace_id, (SELECT count(*) FROM (
        SELECT FROM stale_projections s
        WHERE s.workspace_id = w.workspace_id AND s.projection = ${jobs.projection} LIMIT ${mostBehind}) AS few) AS others
      FROM (SELECT DISTINCT workspace_id FROM attempt) AS w
    )
    UPDATE pgboss.job SET
      state = CASE WHEN job.retry_count > 0 THEN 'retry' ELSE 'created' END::pgboss.job_state,
      started_on = NULL, heartbeat_on = NULL,
      priority = least(job.priority, ${largePriority}::int - behind.others::int)
    FROM attempt JOIN behind USING (workspace_id)
    WHERE job.name = ${jobs.queue} AND job.id = attempt.id AND job.retry_count = attempt.retry_count
      AND job.state = 'active'`)
}

/**
 * Gives the jobs of attempts the lowest priority, so that they are tried again when there are no other jobs. Call it
 * before pg-boss is told that the attempts have failed.
 */
export async function putLast(
  db: Queryable,
  jobs: { queue: string; attempts: readonly { id: string; retryCount: number }[] },
): Promise<void> {
  const rows = jobs.attempts.map(({ id, retryCount }) => [id, retryCount])
  await db.query(sql.unsafe`
    UPDATE pgboss.job SET priority = ${lastPriority}
    FROM ${sql.unnest(rows, ['uuid', 'int4'])} AS attempt (id, retry_count)
    WHERE job.name = ${jobs.queue} AND job.id = attempt.id AND job.retry_count = attempt.retry_count
      AND job.state = 'active'`)
}

/** Deletes finished jobs whose queue does not keep them any longer, up to `batch` a call. Returns their number. */
export async function deleteFinishedJobs(db: Queryable, { batch }: { batch: number }): Promise<number> {
  const result = await db.query(sql.unsafe`
    DELETE FROM pgboss.job_common WHERE ctid = ANY(ARRAY(
      SELECT ctid FROM pgboss.job_common
      WHERE completed_on IS NOT NULL AND deletion_seconds > 0
        AND (completed_on AT TIME ZONE 'UTC') + deletion_seconds * interval '1 second' < now() AT TIME ZONE 'UTC'
      LIMIT ${batch}))`)
  return result.rowCount
}

/** Deletes jobs that nobody claimed within the retention of their queue, up to `batch` a call. Returns their number. */
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
