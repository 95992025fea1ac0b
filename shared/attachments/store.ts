import type { Readable } from 'node:stream'

/**
 * Where the bytes of attachments lie, under ids that this service has made (`att_<ULID>`), never under names that
 * somebody sent.
 */
export type FileStore = {
  /**
   * Stores all bytes of the stream; when it resolves they survive a power cut. Rejects when the stream or the store
   * fails, and nothing can be read under the id then.
   */
  write: (id: string, bytes: Readable) => Promise<void>
  /** The bytes from the first to the last, or null when there are none under the id. */
  read: (id: string) => Promise<Readable | null>
  /** Removes files, half-written ones too; ids without a file are no error. */
  remove: (ids: readonly string[]) => Promise<void>
}
