import Type from 'typebox'
import { prepared, type Queryable, sql } from '../database/database.ts'
import { row } from '../database/row.ts'
import { type DocumentProjection, deadLetterOf, largeOf, type Queue, type RequestedJobKey } from './queues.ts'

/*
 * All that the service reads from the tables of pg-boss, because its interface does not tell it. No statement of the
 * service writes to them. pg-boss has a partial index for each of the two conditions. Each job has a group (`groupOf`).
 */
const waits = sql.fragment`state < 'active' AND NOT blocked`
const runs = sql.fragment`state = 'active' AND group_id IS NOT NULL`

const StateRow = row(
  Type.Object({ queue: Type.String(), due: Type.Boolean(), busy: Type.Boolean(), lapsed: Type.Boolean() }),
)

/**
 * What queues need of a worker: whether a job is due, whether a job runs or is due within `soonSeconds`, and whether a
 * running job lacks its heartbeat.
 */
export function queueStates(
  db: Queryable,
  { queues, soonSeconds }: { queues: readonly string[]; soonSeconds: number },
) {
  const startsBy = (seconds: number) => sql.fragment`EXISTS (
    SELECT FROM pgboss.job WHERE name = queue AND ${waits} AND start_after <= now() + make_interval(secs => ${seconds}))`
  return db.any(
    prepared(sql.type(StateRow)`
    SELECT queue, ${startsBy(0)} AS due, count > 0 OR ${startsBy(soonSeconds)} AS busy, lapsed > 0 AS lapsed
    FROM unnest(${sql.array([...queues], 'text')}) AS queue
    CROSS JOIN LATERAL (
      SELECT count(*), count(*) FILTER (WHERE heartbeat_on + heartbeat_seconds * interval '1 second' < now()) AS lapsed
      FROM pgboss.job WHERE name = queue AND ${runs}
    ) AS running`),
  )
}

const LoadRow = row(
  Type.Object({
    name: Type.String(),
    waiting: Type.Integer(),
    oldest_seconds: Type.Number(),
    active: Type.Integer(),
    dead: Type.Integer(),
  }),
)

/**
 * The load of each of our queues, which are those with a dead-letter queue: its waiting jobs, the seconds since the
 * oldest of them became due, its running jobs, and up to 10,000 dead jobs, which are kept for weeks.
 */
export function queueLoads(db: Queryable) {
  return db.any(sql.type(LoadRow)`
    SELECT queue.name, waiting.count AS waiting, waiting.oldest_seconds, active.count AS active, dead.count AS dead
    FROM pgboss.queue
    CROSS JOIN LATERAL (
      SELECT count(*),
        coalesce(extract(epoch FROM now() - min(greatest(created_on, start_after))
          FILTER (WHERE start_after <= now())), 0)::float8 AS oldest_seconds
      FROM pgboss.job WHERE job.name = queue.name AND ${waits}
    ) AS waiting
    CROSS JOIN LATERAL (SELECT count(*) FROM pgboss.job WHERE job.name = queue.name AND ${runs}) AS active
    CROSS JOIN LATERAL (
      SELECT count(*) FROM (SELECT FROM pgboss.job WHERE job.name = queue.dead_letter AND ${waits} LIMIT 10000) AS kept
      WHERE queue.dead_letter = queue.name || '.dead'
    ) AS dead
    WHERE queue.dead_letter IS NOT NULL
    ORDER BY queue.name`)
}

/** The number of jobs that wait in a queue, up to `most`. */
export function waitingJobs(db: Queryable, { queue, most }: { queue: string; most: number }): Promise<number> {
  return db.oneFirst(sql.type(row(Type.Object({ count: Type.Number() })))`
    SELECT count(*) FROM (SELECT FROM pgboss.job WHERE name = ${queue} AND ${waits} LIMIT ${most}) AS waiting`)
}

const LaggingRow = row(Type.Object({ workspace_id: Type.String(), document_id: Type.String() }))

/**
 * Returns documents whose projection has been stale for longer than `seconds` and for which no job is on its way, the
 * longest first. A document of which two jobs have become dead letters since then is left out for a quarter of an hour.
 * Each further dead letter makes this time about four times as long, up to a day.
 */
export function laggingDocuments(
  db: Queryable,
  input: { projection: Pick<DocumentProjection, 'name' | 'queue'>; seconds: number; limit: number },
) {
  const { name, queue } = input.projection
  const queues = sql.array([queue.name, largeOf(queue).name], 'text')
  return db.any(sql.type(LaggingRow)`
    WITH dead AS (
      SELECT s.workspace_id, s.document_id, count(*) AS times, max(j.created_on) AS last
      FROM pgboss.job j
      JOIN stale_projections s ON s.workspace_id = j.data ->> 'workspace_id'
        AND s.projection = ${name} AND s.document_id = j.data ->> 'document_id'
      WHERE j.name = ${deadLetterOf(queue)} AND j.created_on > s.since
      GROUP BY 1, 2
    )
    SELECT s.workspace_id, s.document_id FROM stale_projections s
    LEFT JOIN dead ON dead.workspace_id = s.workspace_id AND dead.document_id = s.document_id
    WHERE s.projection = ${name} AND s.since < now() - make_interval(secs => ${input.seconds})
      AND NOT EXISTS (
        SELECT FROM pgboss.job j WHERE j.name = ANY(${queues}) AND j.id = s.job_id AND j.state < 'completed')
      AND (dead.times IS NULL
        OR dead.last <= now() - least(interval '5 minutes' * (4 ^ least(dead.times - 1, 5) - 1), interval '1 day'))
    ORDER BY s.since LIMIT ${input.limit}`)
}

const KeyRow = row(Type.Object({ workspace_id: Type.String(), job_id: Type.String() }))

/** Returns open requested jobs, older than `seconds`, for which pg-boss has no job left. */
export function strandedJobs(
  db: Queryable,
  input: { table: { name: string; queue: Queue<RequestedJobKey> }; seconds: number; limit: number },
): Promise<readonly RequestedJobKey[]> {
  const { name, queue } = input.table
  return db.any(sql.type(KeyRow)`
    SELECT j.workspace_id, j.id AS job_id FROM ${sql.identifier([name])} j
    WHERE j.finished_at IS NULL AND j.created_at < now() - make_interval(secs => ${input.seconds})
      AND NOT EXISTS (
        SELECT FROM pgboss.job q WHERE q.name = ANY(${sql.array([queue.name, deadLetterOf(queue)], 'text')})
          AND q.data ->> 'job_id' = j.id AND q.state < 'completed')
    LIMIT ${input.limit}`)
}

const TurnRow = row(Type.Object({ turn: Type.Integer() }))

/**
 * Returns the priority of a new requested job, by which the workspaces of a queue take turns: the highest priority is
 * claimed first. The first job of a workspace comes next, and each further job of the workspace has a priority less by
 * one. Priorities fall as long as there are jobs, so later jobs do not overtake a job for ever. An empty queue begins
 * with zero.
 */
export function requestedJobTurn(db: Queryable, input: { queue: string; workspaceId: string }): Promise<number> {
  const { queue, workspaceId } = input
  const waiting = sql.fragment`pgboss.job WHERE name = ${queue} AND ${waits}`
  const running = sql.fragment`pgboss.job WHERE name = ${queue} AND ${runs}`
  return db.oneFirst(
    prepared(sql.type(TurnRow)`
    SELECT least(
      coalesce((SELECT min(priority) FROM ${running}), (SELECT max(priority) FROM ${waiting}), 0),
      (SELECT min(priority) - 1 FROM ${waiting} AND group_id = ${workspaceId}),
      (SELECT min(priority) - 1 FROM ${running} AND group_id = ${workspaceId})
    ) AS turn`),
  )
}

/** The condition that an attempt at a job is the running attempt. */
export function isRunning({ queue, job }: { queue: string; job: { id: string; retryCount: number } }) {
  return sql.fragment`EXISTS (SELECT FROM pgboss.job WHERE name = ${queue} AND id = ${job.id}
    AND retry_count = ${job.retryCount}::int AND state = 'active')`
}
