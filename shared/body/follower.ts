import type { Ahead } from '../computations/ahead.ts'
import type { Transaction } from '../database/database.ts'
import type { DocumentRow } from '../documents/queries.ts'

/**
 * What follows documents inside the transaction of the write itself, because no reader may see it lag; what may lag is a
 * projection. Derived nouns implement it and the processes put them together, so the core calls what it does not know.
 */
export type DocumentFollower = {
  /** After another body of a document was stored, with the stored texts of the old body and the new one. */
  bodyChanged: (
    context: { tx: Transaction; ahead: Ahead },
    input: { document: DocumentRow; texts: { from: string; to: string } },
  ) => Promise<void>
}
