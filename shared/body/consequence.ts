import type { Ahead } from '../computations/ahead.ts'
import type { Config } from '../config/config.ts'
import type { Transaction } from '../database/database.ts'
import type { DocumentRow } from '../documents/queries.ts'
import type { Jobs } from '../jobs/send.ts'
import type { BodyChange, TwoTexts } from './change.ts'

/** A context that holds everything a body write needs besides the edit. */
export type CommitContext = {
  tx: Transaction
  jobs: Jobs
  config: Pick<Config, 'DOCUMENT_MAX_BYTES' | 'QUOTA_DOCUMENT_CHARACTERS' | 'VERSIONS_RETENTION'>
  /**
   * The provider of results that take long to compute. A request computes such results before it locks the document.
   */
  ahead: Ahead
  /**
   * The consequences of the write, in their order. Every process that writes bodies passes the whole list of
   * `shared/consequences`.
   */
  consequences: { body: readonly BodyConsequence[] }
}

/** A write that has stored a new body in place of the old body, and has recorded the event of the write. */
export type BodyWrite = {
  before: DocumentRow
  document: DocumentRow
  /** The stored texts of both bodies. Lines that both bodies have may be missing in both. */
  texts: TwoTexts
  change: BodyChange
  /** The number of the event's row, which `stale_projections` stores for each projection that the write makes stale. */
  eventRowNo: number
  /** Whether the document was ever opened live. */
  isLive: boolean
  /** Whether a requested job whose source is the document was open when the document was locked. */
  hasOpenJobs: boolean
}

/**
 * A consequence of a body write. The function runs inside the transaction of the write, because no reader may see the
 * rows of the consequence lag behind the body. Rows that may lag belong to a projection. `commitBody` calls all
 * functions of the list in `shared/consequences`, and knows nothing of the nouns that they belong to.
 */
export type BodyConsequence = (context: CommitContext, write: BodyWrite) => Promise<void>
