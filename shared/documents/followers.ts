import type { Transaction } from '../database/database.ts'
import type { DocumentRow } from './queries.ts'

/**
 * What follows deletions of documents inside the transaction of the deletion itself; one is made for each call, so that it
 * may know who deletes. Derived nouns implement it and the processes put them together, so the core calls what it does
 * not know.
 */
export type DeletionFollower = {
  /** After documents of one workspace were deleted; they are given as they were last. */
  documentsDeleted: (
    tx: Transaction,
    input: { workspaceId: string; documents: readonly DocumentRow[] },
  ) => Promise<void>
}
