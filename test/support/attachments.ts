import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Client, Reply } from './client.ts'
import type { TestService } from './service.ts'

/** One part of a form. A part with a file name is a file. */
export type Part = { name: string; filename?: string; type?: string; bytes: string | Uint8Array }

/** The bytes of a multipart/form-data body with exactly these parts in this order. */
export function form(parts: readonly Part[], boundary = 'a-boundary') {
  const pieces = parts.flatMap(({ name, filename, type, bytes }) => [
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"`,
    filename === undefined ? '' : `; filename="${filename}"`,
    type === undefined ? '' : `\r\nContent-Type: ${type}`,
    '\r\n\r\n',
    bytes,
    '\r\n',
  ])
  const raw = Buffer.concat([...pieces, `--${boundary}--\r\n`].map((piece) => Buffer.from(piece as string)))
  return { raw, headers: { 'content-type': `multipart/form-data; boundary=${boundary}` } }
}

/** A small file of each accepted kind. */
export const samples = {
  png: Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  ),
  text: Buffer.from('Elephants drink a hundred litres a day.\n'),
}

export type FileOptions = {
  documentId: string
  bytes?: string | Uint8Array
  filename?: string
  type?: string
  headers?: Record<string, string>
}

/** Uploads a file to a document; by default a picture. */
export function upload(client: Client, options: FileOptions): Promise<Reply> {
  const { documentId, bytes = samples.png, filename = 'a.png', type = 'image/png' } = options
  const { raw, headers } = form([
    { name: 'document_id', bytes: documentId },
    { name: 'file', filename, type, bytes },
  ])
  return client.call('POST', '/attachments', { raw, headers: { ...headers, ...options.headers } })
}

/** The id of a new attachment. Throws when the upload was refused. */
export async function uploaded(client: Client, options: FileOptions): Promise<string> {
  const reply = await upload(client, options)
  if (reply.status !== 201) throw new Error(`POST /attachments answered ${reply.status}: ${reply.text}`)
  return reply.body.data.id
}

/** The names of all files in the local store, also of half-written files. */
export async function storedFiles({ config }: Pick<TestService, 'config'>): Promise<string[]> {
  const entries = await readdir(join(config.DATA_DIR, 'attachments'), { recursive: true, withFileTypes: true }).catch(
    () => [],
  )
  return entries.filter((entry) => entry.isFile()).map((entry) => entry.name)
}
