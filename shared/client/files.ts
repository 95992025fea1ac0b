import { versionOf } from './api.ts'
import type { components } from './openapi.d.ts'
import { watched } from './streams.ts'
import { type CallOptions, type Connection, send } from './transport.ts'

/** A file of a document. */
export type Attachment = components['schemas']['Attachment']

/**
 * A file to upload. `file` is a `Blob` or `File`; in Node `openAsBlob(path)` of `node:fs` makes one that is read from
 * the disk while it is sent. Name and type are those of the `File` unless they are given.
 */
export type Upload = { documentId: string; file: Blob; filename?: string | undefined; contentType?: string | undefined }

/** A file as it arrives. */
export type Download = {
  /** The bytes. Reading fails with a KnowledgeBaseError when the file breaks off. */
  data: ReadableStream<Uint8Array>
  /** The version of the file, `sha256:` and the digest of its bytes; undefined for an archive. */
  etag: string | undefined
  filename: string | undefined
  /** Bytes; undefined for an archive. */
  size: number | undefined
}

// The slowest upload in bytes for a second that is not taken for a broken one.
const slowest = 100_000

/** Uploads a file. The bytes are never in memory as a whole, and a repetition makes no second attachment. */
export async function upload(
  connection: Connection,
  { documentId, file, filename, contentType }: Upload,
  options: CallOptions & { idempotencyKey?: string | undefined },
): Promise<Attachment> {
  const { idempotencyKey, timeout = connection.timeout + (file.size / slowest) * 1000, ...rest } = options
  const typed = contentType === undefined ? file : file.slice(0, file.size, contentType)
  const name = filename ?? ('name' in file && typeof file.name === 'string' ? file.name : 'file')
  const response = await send(connection, {
    ...rest,
    timeout,
    method: 'POST',
    url: `${connection.address}/attachments`,
    headers: new Headers(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    body() {
      const form = new FormData()
      form.set('document_id', documentId)
      form.set('file', typed, name)
      return form
    },
  })
  return ((await response.json()) as { data: Attachment }).data
}

/** Downloads a file from a path of the API. `timeout` also bounds how long nothing may arrive. */
export async function download(
  connection: Connection,
  path: string,
  { ifNoneMatch, ...options }: CallOptions & { ifNoneMatch?: string | undefined },
): Promise<Download> {
  const response = await send(connection, {
    ...options,
    method: 'GET',
    url: connection.address + path,
    headers: new Headers(ifNoneMatch === undefined ? {} : { 'if-none-match': `"${ifNoneMatch}"` }),
  })
  const { headers } = response
  const size = headers.get('content-length')
  const { timeout: idle = connection.timeout, signal } = options
  return {
    data: watched(response.body ?? new ReadableStream(), { idle, signal }),
    etag: versionOf(response),
    filename: filenameOf(headers.get('content-disposition')),
    size: size === null ? undefined : Number(size),
  }
}

// RFC 6266: `filename*` holds any name, percent-encoded; `filename` holds an ASCII name, in quotes.
function filenameOf(disposition: string | null): string | undefined {
  const encoded = /;\s*filename\*=UTF-8''([^;\s]+)/i.exec(disposition ?? '')?.[1]
  if (encoded !== undefined) return decodeURIComponent(encoded)
  const [, quoted, bare] = /;\s*filename=(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/i.exec(disposition ?? '') ?? []
  return quoted?.replace(/\\(.)/g, '$1') ?? bare
}
