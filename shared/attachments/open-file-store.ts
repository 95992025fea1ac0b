import { join, resolve } from 'node:path'
import type { Config } from '../config/config.ts'
import { localFiles } from './local-files.ts'
import type { FileStore } from './store.ts'

type StoreConfig = Pick<
  Config,
  | 'DATA_DIR'
  | 'ATTACHMENT_S3_BUCKET'
  | 'ATTACHMENT_S3_ENDPOINT'
  | 'ATTACHMENT_S3_REGION'
  | 'ATTACHMENT_S3_ACCESS_KEY_ID'
  | 'ATTACHMENT_S3_SECRET_ACCESS_KEY'
>

/** The store that is configured: a bucket when one is named, otherwise a directory below `DATA_DIR`. */
export async function openFileStore(config: StoreConfig): Promise<FileStore> {
  if (config.ATTACHMENT_S3_BUCKET === '') return localFiles(join(resolve(config.DATA_DIR), 'attachments'))
  // The client of S3 is large; who stores locally does not load it.
  const { s3Files } = await import('./s3-files.ts')
  return s3Files({
    bucket: config.ATTACHMENT_S3_BUCKET,
    endpoint: config.ATTACHMENT_S3_ENDPOINT,
    region: config.ATTACHMENT_S3_REGION,
    accessKeyId: config.ATTACHMENT_S3_ACCESS_KEY_ID,
    secretAccessKey: config.ATTACHMENT_S3_SECRET_ACCESS_KEY,
  })
}
