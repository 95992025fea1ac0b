import Type from 'typebox'
import { type Database, inTransaction, sql } from '../database/database.ts'
import { row } from '../database/row.ts'

/**
 * Deletes at most `batch` events that are older than `days`, and the leases of streams that have expired. Raises the
 * floor, the highest purged id, in the same transaction, so that a reader can tell that events are missing. Returns how
 * many events the floor has passed. Only a prefix of the log is deleted: an event of a long transaction may carry an
 * older time than the event before it.
 *
 * An event that marks since when a projection lags stays in the table until the projection has caught up. The search
 * watermark is derived from the id of that event. Readers of the log do not see events below the floor.
 */
export function purgeEvents(database: Database, limits: { days: number; batch: number }): Promise<number> {
  return inTransaction(database, async (tx) => {
    const { floor, passed } = await tx.one(sql.type(row(Type.Object({ floor: Type.Number(), passed: Type.Number() })))`
      WITH page AS (
        SELECT event_id, created_at < now() - make_interval(days => ${limits.days}) AS expired FROM events
        WHERE event_id > (SELECT event_id FROM event_floor) ORDER BY event_id LIMIT ${limits.batch}
      )
      UPDATE event_floor SET event_id = greatest(event_id, (
        SELECT max(event_id) FROM page
        WHERE event_id < coalesce((SELECT min(event_id) FROM page WHERE NOT expired), 9223372036854775807)))
      RETURNING event_id AS floor, (SELECT count(*) FROM page WHERE page.event_id <= event_floor.event_id) AS passed`)
    await tx.query(sql.unsafe`
      DELETE FROM events e WHERE e.event_id <= ${floor} AND NOT EXISTS (
        SELECT FROM stale_projections p WHERE p.workspace_id = e.workspace_id AND p.event_row_no = e.row_no)`)
    await tx.query(sql.unsafe`DELETE FROM event_stream_leases WHERE expires_at < now()`)
    return passed
  })
}
