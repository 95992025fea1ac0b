import type { Readable } from 'node:stream'
import { Refusal } from '../errors/errors.ts'
import type { AttachmentRow } from './queries.ts'
import type { FileStore } from './store.ts'

/**
 * Opens the bytes of an attachment whose record the caller may see. 503 when the store does not give them: the record
 * says that they exist.
 */
export async function openBytes(files: FileStore, attachment: Pick<AttachmentRow, 'id'>): Promise<Readable> {
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
