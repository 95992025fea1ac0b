import type { Readable } from 'node:stream'
import { DeleteObjectsCommand, GetObjectCommand, NoSuchKey, S3Client } from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import type { FileStore } from './store.ts'

/** A bucket; an empty endpoint is Amazon's own, empty credentials are looked up where its tools keep them. */
export type Bucket = {
  bucket: string
  endpoint: string
  region: string
  accessKeyId: string
  secretAccessKey: string
}

/**
 * Files in a bucket of S3 or a server that speaks its protocol, below `attachments/`. An upload needs the memory of one
 * part, 5 MiB; larger files are sent in parts and exist only once the last one has arrived.
 */
export function s3Files(options: Bucket): FileStore {
  const client = clientOf(options)
  const { bucket: Bucket } = options
  return {
    async write(id, bytes) {
      const params = { Bucket, Key: keyOf(id), Body: bytes, ContentType: 'application/octet-stream' }
      await new Upload({ client, params, queueSize: 1, partSize }).done()
    },
    async read(id) {
      try {
        const { Body } = await client.send(new GetObjectCommand({ Bucket, Key: keyOf(id) }))
        return (Body ?? null) as Readable | null
      } catch (error) {
        if (error instanceof NoSuchKey) return null
        throw error
      }
    },
    async remove(ids) {
      if (ids.length === 0) return
      const Objects = ids.map((id) => ({ Key: keyOf(id) }))
      const { Errors } = await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } }))
      if (Errors?.[0] !== undefined) throw new Error(`the bucket kept a file: ${Errors[0].Code}`)
    },
  }
}

// The smallest part that the protocol allows.
const partSize = 5 * 1024 * 1024

// A slow download holds its connection; the client's own limit of 50 would make uploads wait for them.
const maxSockets = 500

function keyOf(id: string): string {
  return `attachments/${id}`
}

function clientOf({ endpoint, region, accessKeyId, secretAccessKey }: Bucket): S3Client {
  return new S3Client({
    region,
    ...(endpoint !== '' && { endpoint, forcePathStyle: true }),
    ...(accessKeyId !== '' && { credentials: { accessKeyId, secretAccessKey } }),
    requestHandler: { connectionTimeout: 5000, httpAgent: { maxSockets }, httpsAgent: { maxSockets } },
    // Servers other than Amazon's do not all know the checksums that it has added.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  })
}
