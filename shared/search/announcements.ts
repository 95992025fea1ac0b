import { sql, type Transaction } from '../database/database.ts'

/** The channel on which workers tell waiting searches which documents are indexed. */
export const indexedChannel = 'svc_indexed'

/** Documents that are indexed or gone. `transactionId` is PostgreSQL's id of the transaction that found this out. */
export type IndexedAnnouncement = { transactionId: bigint; documentIds: readonly string[] }

/** Announces documents, which the caller has locked, at the commit of the transaction. */
export async function announceIndexed(tx: Transaction, documentIds: readonly string[]): Promise<void> {
  await tx.query(sql.unsafe`
    SELECT pg_notify(${indexedChannel}, concat_ws(' ', pg_current_xact_id(), ${documentIds.join(' ')}::text))`)
}

/** Reads the payload of a notification on `indexedChannel`; null for any other text. */
export function readAnnouncement(payload: string): IndexedAnnouncement | null {
  const [transactionId = '', ...documentIds] = payload.split(' ')
  return /^\d{1,20}$/.test(transactionId) ? { transactionId: BigInt(transactionId), documentIds } : null
}

/** Makes a function that tells whether a snapshot, in the text form of PostgreSQL, sees a transaction. */
export function transactionsIn(snapshot: string): (transactionId: bigint) => boolean {
  const [lowestRunning = '0', next = '0', running = ''] = snapshot.split(':')
  const [from, to] = [BigInt(lowestRunning), BigInt(next)]
  const open = new Set(running.split(','))
  return (id) => id < from || (id < to && !open.has(String(id)))
}
