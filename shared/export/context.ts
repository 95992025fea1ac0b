import type { FileStore } from '../attachments/store.ts'
import type { Queryable } from '../database/database.ts'
import type { DocumentRow } from '../documents/queries.ts'
import type { Document } from '../documents/schema.ts'
import type { Logger } from '../process/log.ts'
import type { Archive } from './archive.ts'

/** What an export reads from and writes to. */
export type ExportContext = {
  snapshot: Queryable
  archive: Archive
  /** Where files are read, or null to leave them out. */
  files: FileStore | null
  log: Logger
  /** Documents as the API returns them. */
  present: (db: Queryable, rows: readonly DocumentRow[]) => Promise<Document[]>
}
