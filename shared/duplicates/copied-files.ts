import { claimFiles, recordOrphans, removeOrphans } from '../attachments/orphans.ts'
import { type AttachmentRow, insertAttachments } from '../attachments/queries.ts'
import type { FileStore } from '../attachments/store.ts'
import type { Ahead } from '../computations/ahead.ts'
import type { Config } from '../config/config.ts'
import type { Database, Transaction } from '../database/database.ts'
import type { DocumentRow } from '../documents/queries.ts'
import { Refusal } from '../errors/errors.ts'
import { expectRoom, makeRoom, type QuotaLimits } from '../quotas/quotas.ts'
import { newId } from '../schema/ids.ts'
import { Turns } from '../turns/turns.ts'

/** A copy of the bytes of an attachment; the store keeps the copy as `copyId`. */
export type FileCopy = { attachment: AttachmentRow; copyId: string }

type CopyContext = {
  tx: Transaction
  ahead: Ahead
  database: Database
  files: FileStore
  config: QuotaLimits & Pick<Config, 'QUOTA_ATTACHMENT_BYTES' | 'ATTACHMENT_MAX_BYTES'>
}

// A copy in a local directory may take one of the four threads of Node's pool, so copies wait for their turn.
const turns = new Turns({ atOnce: 2, ofOneUser: 2, waiting: 64, waitingOfOneUser: 8, patienceMs: 30_000 })

/**
 * Copies the bytes of attachments for one new document of their workspace, while no lock is held. A file that is gone
 * has no copy. Until `keepCopies`, the copies are orphans, which go when the transaction fails. When the client no
 * longer waits for the answer, no further file is copied. Refuses with 409 `quota_exceeded` before the first byte is
 * copied. Refuses with 503 when the store fails, or when too many files wait for their turn.
 */
export async function copyFiles(
  { tx, ahead, database, files, config }: CopyContext,
  { workspaceId, attachments }: { workspaceId: string; attachments: readonly AttachmentRow[] },
): Promise<FileCopy[]> {
  if (attachments.length === 0) return []
  await expectRoom(tx, { workspaceId, quota: 'documents', limit: config.QUOTA_DOCUMENTS, adding: 1 })
  const size = attachments.reduce((sum, attachment) => sum + attachment.size, 0)
  await makeRoom(tx, {
    workspaceId,
    quota: 'attachment_bytes',
    limit: config.QUOTA_ATTACHMENT_BYTES,
    adding: size,
    largest: Math.max(size, config.ATTACHMENT_MAX_BYTES),
  })
  const originalIds = attachments.map(({ id }) => id)
  const copyIds = await ahead.acquired({
    name: 'copies of files',
    input: originalIds,
    acquire: () => copyAll({ database, files }, originalIds),
    release: async (copies) => {
      const ids = [...copies.values()]
      if (ids.length > 0) await removeOrphans({ database, files }, { ids })
    },
  })
  return attachments.flatMap((attachment) => {
    const copyId = copyIds.get(attachment.id)
    return copyId === undefined ? [] : [{ attachment, copyId }]
  })
}

/**
 * Makes the copied files attachments of a new document. Refuses with 503 when the copying took so long that the sweep
 * has removed a copy.
 */
export async function keepCopies(
  tx: Transaction,
  { document, copies, createdBy }: { document: DocumentRow; copies: readonly FileCopy[]; createdBy: string },
): Promise<void> {
  if (copies.length === 0) return
  const ids = copies.map(({ copyId }) => copyId)
  if (!(await claimFiles(tx, ids))) throw unavailable()
  const rows = copies.map(({ attachment, copyId }) => ({
    workspace_id: document.workspace_id,
    id: copyId,
    document_id: document.id,
    filename: attachment.filename,
    content_type: attachment.content_type,
    size: attachment.size,
    sha256: attachment.sha256,
    created_by: createdBy,
  }))
  await insertAttachments(tx, rows)
}

// Returns the id of the copy of each file that the store has.
async function copyAll(
  context: { database: Database; files: FileStore },
  originalIds: readonly string[],
): Promise<Map<string, string>> {
  const pairs = originalIds.map((from) => ({ from, to: newId('att') }))
  const ids = pairs.map(({ to }) => to)
  await recordOrphans(context.database, { ids, hours: 1 })
  const copies = new Map<string, string>()
  try {
    for (const pair of pairs) {
      if (await turns.run(() => copyIn(context.files, pair))) copies.set(pair.from, pair.to)
    }
  } catch (error) {
    // If the store also fails to remove the copies, they are left to the sweep.
    await removeOrphans(context, { ids }).catch(() => {})
    throw error
  }
  return copies
}

async function copyIn(files: FileStore, pair: { from: string; to: string }): Promise<boolean> {
  try {
    return await files.copy(pair)
  } catch (cause) {
    throw unavailable(cause)
  }
}

function unavailable(cause?: unknown): Refusal {
  return new Refusal('service_unavailable', { headers: { 'Retry-After': '1' }, ...(cause !== undefined && { cause }) })
}
