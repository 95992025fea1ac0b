import type { Ahead } from '../computations/ahead.ts'
import type { Transaction } from '../database/database.ts'
import type { DocumentRow } from './queries.ts'

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

/** As `DocumentFollower`, for deletions; one is made for each call, so that it may know who deletes. */
export type DeletionFollower = {
  /** After documents of one workspace were deleted; they are given as they were last. */
  documentsDeleted: (
    tx: Transaction,
    input: { workspaceId: string; documents: readonly DocumentRow[] },
  ) => Promise<void>
}
