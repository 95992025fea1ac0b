import type { Transaction } from '../database/database.ts'
import type { DocumentRow } from '../documents/queries.ts'
import type { LineDifference } from './manifest.ts'

/**
 * What follows documents inside the transaction of the write itself, because no reader may see it lag; what may lag is a
 * projection. Derived nouns implement it and the processes put them together, so the core calls what it does not know.
 */
export type DocumentFollower = {
  /** After another body of a document was stored, with what only one of the two bodies has. */
  bodyChanged: (tx: Transaction, input: { document: DocumentRow; difference: LineDifference }) => Promise<void>
}
