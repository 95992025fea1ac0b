import type { Ahead } from '../computations/ahead.ts'
import type { Config } from '../config/config.ts'
import type { Transaction } from '../database/database.ts'
import type { DocumentRow } from '../documents/queries.ts'
import type { Jobs } from '../jobs/send.ts'
import type { BodyChange, TwoTexts } from './change.ts'

/** Everything a body write needs besides the edit. */
export type CommitContext = {
  tx: Transaction
  jobs: Jobs
  config: Pick<Config, 'DOCUMENT_MAX_BYTES' | 'QUOTA_DOCUMENT_CHARACTERS' | 'VERSIONS_RETENTION'>
  /** Where results that take long come from. A request does not compute them while it holds the document. */
  ahead: Ahead
  /** What follows from the write, in order; every process that writes bodies passes the whole list. */
  consequences: { body: readonly BodyConsequence[] }
}

/** A body that has been stored in place of another one, with its event. */
export type BodyWrite = {
  before: DocumentRow
  document: DocumentRow
  /** The stored texts of both bodies. */
  texts: TwoTexts
  change: BodyChange
  /** The number of the event's row, which projections wait for. */
  eventRowNo: number
  /** Whether the document was ever opened live. */
  isLive: boolean
  /** Whether a requested job whose source is the document was open when the document was locked. */
  hasOpenJobs: boolean
}

/**
 * A consequence of a body write. It runs inside the transaction of the write, because no reader may see its rows lag;
 * rows that may lag belong to a projection. The core calls the list in `shared/consequences` without knowing its nouns.
 * A consequence that reads nothing only sends its statements.
 */
export type BodyConsequence = (context: CommitContext, write: BodyWrite) => Promise<void> | void
