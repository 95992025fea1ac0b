import type { Readable } from 'node:stream'
import { CopyObjectCommand, DeleteObjectsCommand, GetObjectCommand, NoSuchKey, S3Client } from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'

/**
 * A bucket and the access to it. An empty endpoint means the endpoint of Amazon. With empty credentials the client
 * looks for credentials where Amazon's tools keep them.
 */
export type BucketLocation = {
  bucket: string
  endpoint: string
  region: string
  accessKeyId: string
  secretAccessKey: string
}

/**
 * A `FileStore` in a bucket of S3, or of a server that speaks its protocol, below `attachments/`. An upload takes the
 * memory of one part, 5 MiB. A larger file is sent in parts and exists only once the last part has arrived.
 */
export function s3Files(options: BucketLocation) {
  const client = clientOf(options)
  const { bucket: Bucket } = options
  return {
    async write(id: string, bytes: Readable): Promise<void> {
      const params = { Bucket, Key: keyOf(id), Body: bytes, ContentType: 'application/octet-stream' }
      await new Upload({ client, params, queueSize: 1, partSize }).done()
    },
    async copy({ from, to }: { from: string; to: string }): Promise<boolean> {
      try {
        await client.send(new CopyObjectCommand({ Bucket, Key: keyOf(to), CopySource: `${Bucket}/${keyOf(from)}` }))
        return true
      } catch (error) {
        if (error instanceof NoSuchKey) return false
        throw error
      }
    },
    async read(id: string): Promise<Readable | null> {
      try {
        const { Body } = await client.send(new GetObjectCommand({ Bucket, Key: keyOf(id) }))
        return (Body ?? null) as Readable | null
      } catch (error) {
        if (error instanceof NoSuchKey) return null
        throw error
      }
    },
    async remove(ids: readonly string[]): Promise<void> {
      if (ids.length === 0) return
      const Objects = ids.map((id) => ({ Key: keyOf(id) }))
      const { Errors } = await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } }))
      if (Errors?.[0] !== undefined) throw new Error(`the bucket kept a file: ${Errors[0].Code}`)
    },
  }
}

// Bytes of a part: the smallest size that the protocol allows.
const partSize = 5 * 1024 * 1024

// A slow download keeps its connection. With the client's default of 50 connections, uploads would wait for downloads.
const maxSockets = 500

function keyOf(id: string): string {
  return `attachments/${id}`
}

function clientOf({ endpoint, region, accessKeyId, secretAccessKey }: BucketLocation): S3Client {
  return new S3Client({
    region,
    ...(endpoint !== '' && { endpoint, forcePathStyle: true }),
    ...(accessKeyId !== '' && { credentials: { accessKeyId, secretAccessKey } }),
    requestHandler: { connectionTimeout: 5000, httpAgent: { maxSockets }, httpsAgent: { maxSockets } },
    // Some servers other than Amazon's do not support the newer checksums of the protocol, so they are used only where
    // an operation requires them.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  })
}
