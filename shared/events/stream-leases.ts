import Type from 'typebox'
import { type Database, inTransaction, type Queryable, sql } from '../database/database.ts'
import { row } from '../database/row.ts'

/** One open stream of a token; `streamId` is unique. */
export type StreamLease = { tokenId: string; streamId: string }

/**
 * Takes a lease for `seconds`, unless the token has `limit` streams already, over all processes; then false. Streams
 * that open together take turns, so that the limit holds.
 */
export function takeLease(
  database: Database,
  request: StreamLease & { limit: number; seconds: number },
): Promise<boolean> {
  const { tokenId, streamId } = request
  return inTransaction(database, async (tx) => {
    await tx.query(sql.unsafe`SELECT pg_advisory_xact_lock(hashtextextended(${`svc_event_streams:${tokenId}`}, 0))`)
    const taken = await tx.anyFirst(sql.type(row(Type.Object({ stream_id: Type.String() })))`
      INSERT INTO event_stream_leases (token_id, stream_id, expires_at)
      SELECT ${tokenId}, ${streamId}, clock_timestamp() + make_interval(secs => ${request.seconds})
      WHERE ${request.limit} > (
        SELECT count(*) FROM event_stream_leases WHERE token_id = ${tokenId} AND expires_at > clock_timestamp())
      RETURNING stream_id`)
    return taken.length === 1
  })
}

/** Renews the leases for `seconds`; one that was given back meanwhile stays so. */
export async function renewLeases(
  db: Queryable,
  renewal: { leases: readonly StreamLease[]; seconds: number },
): Promise<void> {
  const tokenIds = renewal.leases.map(({ tokenId }) => tokenId)
  const streamIds = renewal.leases.map(({ streamId }) => streamId)
  await db.query(sql.unsafe`
    UPDATE event_stream_leases l SET expires_at = now() + make_interval(secs => ${renewal.seconds})
    FROM unnest(${sql.array(tokenIds, 'text')}, ${sql.array(streamIds, 'text')}) AS held (token_id, stream_id)
    WHERE l.token_id = held.token_id AND l.stream_id = held.stream_id`)
}

/** Gives leases back. */
export async function releaseLeases(db: Queryable, leases: readonly StreamLease[]): Promise<void> {
  const tokenIds = leases.map(({ tokenId }) => tokenId)
  const streamIds = leases.map(({ streamId }) => streamId)
  await db.query(sql.unsafe`
    DELETE FROM event_stream_leases l
    USING unnest(${sql.array(tokenIds, 'text')}, ${sql.array(streamIds, 'text')}) AS given (token_id, stream_id)
    WHERE l.token_id = given.token_id AND l.stream_id = given.stream_id`)
}
