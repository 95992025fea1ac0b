import Type from 'typebox'
import { type Database, inTransaction, sql } from '../database/database.ts'
import { row } from '../database/row.ts'

/** The channel that tells readers of the log about new ids. */
export const numberedChannel = 'svc_events_numbered'

/**
 * Gives public ids to at most `batch` committed events that have no id yet, oldest first, and returns how many. An
 * advisory lock lets one process number events at a time; a process that does not get the lock returns 0. Ids become
 * visible in their own order, because no batch starts before the batch before it is committed. So no reader can skip a
 * late commit.
 * @internal
 */
export async function numberEvents(database: Database, batch: number): Promise<number> {
  return (await numberUnlessBusy(database, batch)) ?? 0
}

/**
 * Gives public ids to at most `batch` committed events that have no id yet, oldest first, and returns how many. Returns
 * null when another process has the advisory lock for numbering events. That process may stop before it has numbered
 * the events for which this process was woken, so the caller has to try again.
 */
export function numberUnlessBusy(database: Database, batch: number): Promise<number | null> {
  return inTransaction(database, async (tx) => {
    const mine = await tx.oneFirst(sql.type(row(Type.Object({ locked: Type.Boolean() })))`
      SELECT pg_try_advisory_xact_lock(hashtextextended('svc_event_ids', 0)) AS locked`)
    if (!mine) return null
    const { count } = await tx.one(sql.type(row(Type.Object({ count: Type.Number() })))`
      WITH batch AS (
        SELECT workspace_id, row_no FROM events WHERE event_id IS NULL ORDER BY row_no LIMIT ${batch}
      ), ids AS (
        SELECT workspace_id, row_no, nextval('event_id_seq') AS event_id
        FROM (SELECT * FROM batch ORDER BY row_no) AS ordered
      ), numbered AS (
        UPDATE events e SET event_id = ids.event_id FROM ids
        WHERE e.workspace_id = ids.workspace_id AND e.row_no = ids.row_no
        RETURNING e.row_no
      )
      SELECT count(*) AS count, CASE WHEN count(*) > 0 THEN pg_notify(${numberedChannel}, '') END FROM numbered`)
    return count
  })
}
