import { pipeline, type Readable } from 'node:stream'
import { type Caller, requireWriter } from '../auth/caller.ts'
import type { Config } from '../config/config.ts'
import type { Database, Transaction } from '../database/database.ts'
import { requireLockedDocument } from '../documents/require.ts'
import { Refusal, unsupportedMediaType } from '../errors/errors.ts'
import { makeRoom } from '../quotas/quotas.ts'
import { newId } from '../schema/ids.ts'
import { harmlessFilename } from './filename.ts'
import { Inspection } from './inspection.ts'
import { claimFiles, recordOrphans, removeOrphans } from './orphans.ts'
import { type AttachmentRow, insertAttachment } from './queries.ts'
import type { FileStore } from './store.ts'

/** A file as a client sends it. Neither the name nor the media type can be trusted. */
export type SentFile = { bytes: Readable; filename: string; contentType: string }

/** A file that is stored and checked, under the id that its attachment will have; `size` in bytes. */
export type ReceivedFile = { id: string; filename: string; contentType: string; size: number; sha256: string }

type UploadContext = {
  database: Database
  files: FileStore
  config: Pick<Config, 'ATTACHMENT_MAX_BYTES' | 'ATTACHMENT_TYPES'>
}

/** The file of one request, from its first byte until an attachment owns the file or the file is removed. */
export class Upload {
  readonly #context: UploadContext
  #id: string | null = null
  #received: ReceivedFile | null = null

  constructor(context: UploadContext) {
    this.#context = context
  }

  /** The received file; null until all its bytes are stored. */
  get received(): ReceivedFile | null {
    return this.#received
  }

  /**
   * Stores a file while it arrives, without keeping the file in memory. Refuses with 413 `attachment_too_large`, 415
   * `unsupported_media_type`, 400 for an empty file, and 503 when the store fails.
   */
  async receive({ bytes, filename, contentType }: SentFile): Promise<void> {
    const { database, files, config } = this.#context
    const { ATTACHMENT_MAX_BYTES: maxBytes, ATTACHMENT_TYPES: acceptedTypes } = config
    if (!acceptedTypes.includes(contentType)) {
      throw unsupportedMediaType({ sent: contentType, accepted: acceptedTypes })
    }
    const id = newId('att')
    await recordOrphans(database, { ids: [id], hours: 1 })
    this.#id = id
    const inspection = new Inspection({ contentType, maxBytes, acceptedTypes })
    // When the sender fails, `pipeline` fails the inspection with the same error, and `files.write` rejects. So the
    // callback of `pipeline` has nothing to do.
    pipeline(bytes, inspection, () => {})
    try {
      await files.write(id, inspection)
    } catch (error) {
      // The store cleans up after a refusal, and may report that the clean-up failed. The client gets the refusal, even
      // if the clean-up failed.
      if (inspection.errored instanceof Refusal) throw inspection.errored
      throw new Refusal('service_unavailable', { headers: { 'Retry-After': '5' }, cause: error })
    }
    const { byteCount: size } = inspection
    this.#received = { id, filename: harmlessFilename(filename), contentType, size, sha256: inspection.sha256() }
  }

  /**
   * Removes the file unless an attachment has claimed it. Call it once the request has ended, in success or failure.
   */
  async release(): Promise<void> {
    if (this.#id !== null) await removeOrphans(this.#context, { ids: [this.#id] })
  }
}

/**
 * Makes a received file an attachment of a document. Refuses with 404 `document_not_found`, 403 without a writing role,
 * and 409 `quota_exceeded` when the workspace has no room for the bytes. Refuses with 503 when the upload took so long
 * that the sweep has removed the file.
 */
export async function createAttachment(
  context: { tx: Transaction; config: Pick<Config, 'QUOTA_ATTACHMENT_BYTES' | 'ATTACHMENT_MAX_BYTES'> },
  input: { caller: Caller; documentId: string; file: ReceivedFile },
): Promise<AttachmentRow> {
  const { tx, config } = context
  const { caller, documentId, file } = input
  const document = await requireLockedDocument(tx, { documentId, caller, field: 'document_id' })
  requireWriter(caller, document.workspace_id)
  if (!(await claimFiles(tx, [file.id]))) throw new Refusal('service_unavailable', { headers: { 'Retry-After': '1' } })
  const { id, filename, contentType, size, sha256 } = file
  await makeRoom(tx, {
    workspaceId: document.workspace_id,
    quota: 'attachment_bytes',
    limit: config.QUOTA_ATTACHMENT_BYTES,
    adding: size,
    largest: Math.max(size, config.ATTACHMENT_MAX_BYTES),
  })
  return insertAttachment(tx, {
    workspace_id: document.workspace_id,
    id,
    document_id: document.id,
    filename,
    content_type: contentType,
    size,
    sha256,
    created_by: caller.userId,
  })
}
