import { attachmentsOfDocuments } from '../attachments/queries.ts'
import type { FileStore } from '../attachments/store.ts'
import { type Caller, requireWriter } from '../auth/caller.ts'
import { attachmentsIn, linkedAttachmentsIn } from '../body/addresses.ts'
import { bodyText } from '../body/queries.ts'
import { storeDocuments } from '../body/store-documents.ts'
import type { Ahead } from '../computations/ahead.ts'
import type { Config } from '../config/config.ts'
import type { Database, Transaction } from '../database/database.ts'
import { markLocks, releaseLocks } from '../database/locks.ts'
import { type LocationInput, locateAgain, locateNamed } from '../documents/location.ts'
import { placeDuplicate } from '../documents/order.ts'
import { claimDocumentIds, type DocumentRow, unlocalized } from '../documents/queries.ts'
import { requireDocument, requireLockedDocument } from '../documents/require.ts'
import { longestTitle } from '../documents/schema.ts'
import type { Jobs } from '../jobs/send.ts'
import type { Location } from '../knowledge-bases/locations.ts'
import { lockStructure } from '../knowledge-bases/queries.ts'
import type { QuotaLimits } from '../quotas/quotas.ts'
import { copyingBody } from './copied-body.ts'
import { copyFiles, keepCopies } from './copied-files.ts'

type DuplicateContext = {
  tx: Transaction
  ahead: Ahead
  jobs: Jobs
  config: QuotaLimits & Pick<Config, 'DOCUMENT_MAX_BYTES' | 'QUOTA_ATTACHMENT_BYTES' | 'ATTACHMENT_MAX_BYTES'>
  database: Database
  files: FileStore
}

type DuplicateRequest = { documentId: string; caller: Caller; title: string | undefined; to: LocationInput }

/**
 * Makes a new document with the metadata and the stored body of another document. Blocks have new ids, links to own
 * blocks lead to the blocks of the duplicate, and files of the original are copied where the body names them. History,
 * membership in a document set and public link stay with the original. Refuses with 404 an original or a location that
 * the caller cannot see, and with 403 a viewer. Refuses with 400 `folder_knowledge_base_mismatch` or
 * `cross_workspace_move`, with 409 `quota_exceeded`, with 422 `document_too_large`, and with 503 when the store of
 * files fails.
 */
export async function duplicateDocument(context: DuplicateContext, request: DuplicateRequest): Promise<DocumentRow> {
  const { tx, ahead, config } = context
  const { caller } = request
  await markLocks(tx)
  const { original, place } = await lockOriginal(context, request)
  const workspaceId = original.workspace_id
  const text = await bodyText(tx, original)
  const copies = await copyFiles(context, { workspaceId, attachments: await ownAttachments(tx, { original, text }) })
  const copied = await ahead.result(copyingBody, {
    text,
    documentId: original.id,
    collapsedBlockIds: original.collapsed_block_ids,
    attachmentIds: copies.map(({ attachment, copyId }) => [attachment.id, copyId] as const),
  })
  await claimDocumentIds(tx, { ids: [copied.documentId], workspaceId })
  const [duplicate] = await storeDocuments(context, {
    workspaceId,
    byteLimit: config.DOCUMENT_MAX_BYTES,
    documents: [
      {
        document: {
          ...unlocalized,
          id: copied.documentId,
          knowledge_base_id: place.knowledge_base_id,
          folder_id: place.folder_id,
          title: request.title?.trim() ?? titleOfCopy(original.title),
          document_type: original.document_type,
          heading_numbered: original.heading_numbered,
          background_color: original.background_color,
          collapsed_block_ids: copied.collapsedBlockIds,
          tags: original.tags,
          properties: original.properties,
          created_by: caller.userId,
        },
        content: copied.content,
      },
    ],
  })
  if (duplicate === undefined) throw new Error('the duplicate was not stored')
  await keepCopies(tx, { document: duplicate, copies, createdBy: caller.userId })
  if (isSame(place, original)) await placeDuplicate(tx, { original, duplicate })
  return duplicate
}

// Locks the location of the duplicate and then the original, in the order of all writes. Beside the original, the
// duplicate gets a place in the manual order, whose lock is taken, too. If the original has moved before it was locked,
// everything is locked anew.
async function lockOriginal(
  context: DuplicateContext,
  request: DuplicateRequest,
): Promise<{ original: DocumentRow; place: Location }> {
  const { tx } = context
  const { caller, to } = request
  const seen = await requireDocument(tx, request)
  const named = await locateNamed({ ...context, caller }, to)
  requireWriter(caller, seen.workspace_id)
  const place = locateAgain(seen, { ...to, named })
  await lockStructure(tx, {
    workspaceId: seen.workspace_id,
    knowledgeBaseIds: [place.knowledge_base_id],
    mode: isSame(place, seen) ? 'rearrange' : 'add',
  })
  const original = await requireLockedDocument(tx, request)
  if (isSame(original, seen)) return { original, place }
  await releaseLocks(tx)
  return lockOriginal(context, request)
}

function isSame(a: Omit<Location, 'workspace_id'>, b: Omit<Location, 'workspace_id'>): boolean {
  return a.knowledge_base_id === b.knowledge_base_id && a.folder_id === b.folder_id
}

// The attachments of the original that its body shows or links to. They go when the original is deleted. Attachments of
// other documents live on, so the duplicate shows them as the original does.
async function ownAttachments(tx: Transaction, { original, text }: { original: DocumentRow; text: string }) {
  const named = attachmentsIn(text).union(linkedAttachmentsIn(text))
  if (named.size === 0) return []
  const { workspace_id: workspaceId, id } = original
  const owned = await attachmentsOfDocuments(tx, { workspaceId, documentIds: [id] })
  return owned.filter((attachment) => named.has(attachment.id))
}

function titleOfCopy(title: string): string {
  const ending = ' (copy)'
  const characters = [...title]
  const room = longestTitle - ending.length
  return (characters.length > room ? characters.slice(0, room).join('').trimEnd() : title) + ending
}
