import Type from 'typebox'
import { type Queryable, sql, type Transaction } from '../../database/database.ts'
import { row } from '../../database/row.ts'

/** The channel on which workers tell waiting readers that a projection of documents is current. */
export const currentChannel = 'svc_projections_current'

/**
 * Says that a projection of documents has become current, or that the documents are gone. `transactionId` is
 * PostgreSQL's id of the transaction that found this out under the locks of the documents.
 */
export type CurrentAnnouncement = { projection: string; transactionId: bigint; documentIds: readonly string[] }

const IdRow = row(Type.Object({ id: Type.String() }))

/** PostgreSQL's id of a transaction. */
export async function transactionIdOf(tx: Transaction): Promise<bigint> {
  return BigInt(await tx.oneFirst(sql.type(IdRow)`SELECT pg_current_xact_id()::text AS id`))
}

/**
 * Announces the documents of a committed round. In PostgreSQL all commits with a NOTIFY wait for each other, until
 * their data are on the disk. So the announcement is a transaction of its own, which does not wait for the disk. If the
 * process dies before, readers wait for as long as they can.
 */
export async function announceCurrent(db: Queryable, announcement: CurrentAnnouncement): Promise<void> {
  const { projection, transactionId, documentIds } = announcement
  const payload = [projection, transactionId, ...documentIds].join(' ')
  await db.query(sql.unsafe`
    SELECT set_config('synchronous_commit', 'off', true), pg_notify(${currentChannel}, ${payload})`)
}

/** Reads the payload of a notification on `currentChannel`; null for any other text. */
export function readAnnouncement(payload: string): CurrentAnnouncement | null {
  const [projection, transactionId, ...documentIds] = payload.split(' ')
  if (projection === undefined || transactionId === undefined || !/^\d{1,20}$/.test(transactionId)) return null
  return { projection, transactionId: BigInt(transactionId), documentIds }
}

/** Makes a function that tells whether a snapshot, in the text form of PostgreSQL, sees a transaction. */
export function transactionsIn(snapshot: string): (transactionId: bigint) => boolean {
  const [lowestRunning = '0', next = '0', running = ''] = snapshot.split(':')
  const [from, to] = [BigInt(lowestRunning), BigInt(next)]
  const open = new Set(running.split(','))
  return (id) => id < from || (id < to && !open.has(String(id)))
}
