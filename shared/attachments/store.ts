import { join, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import type { Config } from '../config/config.ts'
import { Refusal } from '../errors/errors.ts'
import { localFiles } from './local-files.ts'

/**
 * The store of the bytes of attachments. The name of a file in the store is an id that this service has made
 * (`att_<ULID>`), never a name that a client sent.
 */
export type FileStore = {
  /**
   * Stores all bytes of the stream; when the promise resolves, the bytes survive a power cut. Rejects when the stream
   * or the store fails, and nothing can be read under the id then.
   */
  write: (id: string, bytes: Readable) => Promise<void>
  /** The bytes of a file from first to last, or null when the store has no such file. */
  read: (id: string) => Promise<Readable | null>
  /**
   * Copies a file under another id; when the promise resolves, the copy survives a power cut. False when the store has
   * no file `from`. The bytes do not pass through this process where the store can copy by itself.
   */
  copy: (file: { from: string; to: string }) => Promise<boolean>
  /** Removes files, half-written files too. An id without a file is no error. */
  remove: (ids: readonly string[]) => Promise<void>
}

type StoreConfig = Pick<
  Config,
  | 'DATA_DIR'
  | 'ATTACHMENT_S3_BUCKET'
  | 'ATTACHMENT_S3_ENDPOINT'
  | 'ATTACHMENT_S3_REGION'
  | 'ATTACHMENT_S3_ACCESS_KEY_ID'
  | 'ATTACHMENT_S3_SECRET_ACCESS_KEY'
>

/** The store that the settings name: a bucket, or else the directory `attachments` below `DATA_DIR`. */
export async function openFileStore(config: StoreConfig): Promise<FileStore> {
  if (config.ATTACHMENT_S3_BUCKET === '') return localFiles(join(resolve(config.DATA_DIR), 'attachments'))
  // The S3 client is large, so it is only loaded where a bucket is used.
  const { s3Files } = await import('./s3-files.ts')
  return s3Files({
    bucket: config.ATTACHMENT_S3_BUCKET,
    endpoint: config.ATTACHMENT_S3_ENDPOINT,
    region: config.ATTACHMENT_S3_REGION,
    accessKeyId: config.ATTACHMENT_S3_ACCESS_KEY_ID,
    secretAccessKey: config.ATTACHMENT_S3_SECRET_ACCESS_KEY,
  })
}

/**
 * Opens the bytes of an attachment whose row exists, from first to last. Refuses with 503 `service_unavailable` when
 * the store fails, and also when it has no such file, since the row says that the bytes exist.
 */
export async function openBytes(files: FileStore, attachment: { id: string }): Promise<Readable> {
  let bytes: Readable | null
  try {
    bytes = await files.read(attachment.id)
  } catch (cause) {
    throw unavailable(cause)
  }
  if (bytes === null) throw unavailable(new Error(`the file store has no bytes of ${attachment.id}`))
  return bytes
}

function unavailable(cause: unknown): Refusal {
  return new Refusal('service_unavailable', { headers: { 'Retry-After': '5' }, cause })
}
