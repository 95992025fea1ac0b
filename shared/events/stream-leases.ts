import Type from 'typebox'
import { type Database, inTransaction, type Queryable, sql } from '../database/database.ts'
import { row } from '../database/row.ts'

/**
 * The lease of one open stream of a caller's credential, whose id is in the column `token_id`; `streamId` is unique.
 */
export type StreamLease = { credentialId: string; streamId: string }

/**
 * Takes a lease for `seconds`. The result is false when the credential already has `limit` streams in all processes
 * together. Leases of one credential are taken one at a time, so that the limit is exact.
 */
export function takeLease(
  database: Database,
  request: StreamLease & { limit: number; seconds: number },
): Promise<boolean> {
  const { credentialId, streamId } = request
  return inTransaction(database, async (tx) => {
    await tx.query(
      sql.unsafe`SELECT pg_advisory_xact_lock(hashtextextended(${`svc_event_streams:${credentialId}`}, 0))`,
    )
    const taken = await tx.anyFirst(sql.type(row(Type.Object({ stream_id: Type.String() })))`
      INSERT INTO event_stream_leases (token_id, stream_id, expires_at)
      SELECT ${credentialId}, ${streamId}, clock_timestamp() + make_interval(secs => ${request.seconds})
      WHERE ${request.limit} > (
        SELECT count(*) FROM event_stream_leases WHERE token_id = ${credentialId} AND expires_at > clock_timestamp())
      RETURNING stream_id`)
    return taken.length === 1
  })
}

/** Renews the leases for `seconds`. A lease that was released meanwhile stays released. */
export async function renewLeases(
  db: Queryable,
  renewal: { leases: readonly StreamLease[]; seconds: number },
): Promise<void> {
  const credentialIds = renewal.leases.map(({ credentialId }) => credentialId)
  const streamIds = renewal.leases.map(({ streamId }) => streamId)
  await db.query(sql.unsafe`
    UPDATE event_stream_leases l SET expires_at = now() + make_interval(secs => ${renewal.seconds})
    FROM unnest(${sql.array(credentialIds, 'text')}, ${sql.array(streamIds, 'text')}) AS renewed (token_id, stream_id)
    WHERE l.token_id = renewed.token_id AND l.stream_id = renewed.stream_id`)
}

/** Releases leases before they expire. A lease that does not exist is passed over. */
export async function releaseLeases(db: Queryable, leases: readonly StreamLease[]): Promise<void> {
  const credentialIds = leases.map(({ credentialId }) => credentialId)
  const streamIds = leases.map(({ streamId }) => streamId)
  await db.query(sql.unsafe`
    DELETE FROM event_stream_leases l
    USING unnest(${sql.array(credentialIds, 'text')}, ${sql.array(streamIds, 'text')}) AS released (token_id, stream_id)
    WHERE l.token_id = released.token_id AND l.stream_id = released.stream_id`)
}
