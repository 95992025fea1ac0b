import { type Caller, requireWriter } from '../auth/caller.ts'
import type { Transaction } from '../database/database.ts'
import { markLocks, releaseLocks } from '../database/locks.ts'
import { requireReference } from '../documents/order.ts'
import { eventDocument } from '../documents/present.ts'
import { lockDocuments } from '../documents/queries.ts'
import { Refusal } from '../errors/errors.ts'
import { recordEvents } from '../events/record.ts'
import { markStale } from '../jobs/projections/stale.ts'
import type { Jobs } from '../jobs/send.ts'
import {
  changeKnowledgeBaseOfDocuments,
  changeKnowledgeBaseOfFolders,
  type FolderRow,
  findFolder,
  insertFolder,
  lockDocumentsInFolders,
  renameFolder,
  subtreeOf,
  updateFolderRow,
} from '../knowledge-bases/folders.ts'
import { findLocation, type Location, lockLocation } from '../knowledge-bases/locations.ts'
import type { Position } from '../knowledge-bases/order.ts'
import { place } from '../knowledge-bases/placement.ts'
import { lockStructure } from '../knowledge-bases/queries.ts'
import { enforceQuota, type QuotaLimits } from '../quotas/quotas.ts'
import type { NamedId } from '../schema/identifiers.ts'

/** The members of a body that say where a folder goes. */
type FolderLocation = { knowledge_base_id?: NamedId | undefined; parent_id?: NamedId | null | undefined }

/** The decoded body of `POST /folders`. */
export type FolderCreate = FolderLocation & { name: string }

/** The decoded body of `PATCH /folders/{id}`; absent members stay as they are. */
export type FolderUpdate = FolderLocation & { name?: string | undefined; position?: Position | undefined }

/**
 * Creates a folder. Refuses with 400 when the body names no location or contradicts itself. Refuses with 404 when the
 * caller cannot see the location, and with 403 when the caller may not write there. Refuses with 409 `quota_exceeded`.
 */
export async function createFolder(
  context: { tx: Transaction; config: QuotaLimits; caller: Caller },
  input: FolderCreate,
): Promise<FolderRow> {
  const { tx, caller } = context
  const location = await lockLocation(tx, {
    caller,
    knowledgeBaseId: input.knowledge_base_id,
    folderId: input.parent_id,
    folderField: 'parent_id',
  })
  if (location === null) throw withoutLocation()
  await enforceQuota(context, { workspaceId: location.workspace_id, quota: 'folders', adding: 1 })
  return insertFolder(tx, {
    workspace_id: location.workspace_id,
    knowledge_base_id: location.knowledge_base_id,
    parent_id: location.folder_id,
    name: input.name.trim(),
    created_by: caller.userId,
  })
}

function withoutLocation(): Refusal {
  const message = 'is required unless parent_id names a folder'
  return new Refusal('invalid_request', { details: { fields: [{ path: '/knowledge_base_id', message }] } })
}

type UpdateContext = { tx: Transaction; jobs: Jobs; caller: Caller }
type UpdateRequest = { id: number; update: FolderUpdate }

/** A folder and the location to which it goes; both are in one workspace. */
type Move = { folder: FolderRow; destination: Location }

/**
 * Renames a folder, moves it with everything below it, puts it at a position among its siblings, or all of it. A
 * folder that keeps name and location keeps its `updated_at`. Refuses with 404 for a folder or location that is not
 * visible, with 403 for viewers, with 400 `folder_knowledge_base_mismatch` and `cross_workspace_move`, with 409
 * `folder_cycle`, and with 422 `invalid_position`.
 */
export async function updateFolder(context: UpdateContext, request: UpdateRequest): Promise<FolderRow> {
  const { tx, caller } = context
  const { position } = request.update
  const seen = await readMove(context, request)
  if (position !== undefined) await requireReference(tx, { caller, position })
  requireWriter(caller, seen.folder.workspace_id)
  if (!namesLocation(request.update) && position === undefined)
    return rename(tx, { folder: seen.folder, name: request.update.name })
  if (seen.destination.workspace_id !== seen.folder.workspace_id) throw new Refusal('cross_workspace_move')
  markLocks(tx)
  const { folder, destination } = await lockMove(context, { ...request, seen })
  const name = request.update.name?.trim() ?? folder.name
  const changed = isAt(folder, destination)
    ? await rename(tx, { folder, name })
    : await moveFolder(context, { folder, destination, name })
  if (position !== undefined) {
    await place(tx, { kind: 'folders', parent: destination, moved: String(folder.id), position })
  }
  return changed
}

async function readMove(context: UpdateContext, { id, update }: UpdateRequest): Promise<Move> {
  const { tx, caller } = context
  const folder = await findFolder(tx, { caller, id })
  const { workspace_id, knowledge_base_id, parent_id: folder_id } = folder
  const destination = await findLocation(tx, {
    caller,
    knowledgeBaseId: update.knowledge_base_id ?? (update.parent_id === null ? folder.knowledge_base_id : undefined),
    folderId: update.parent_id,
    folderField: 'parent_id',
  })
  return { folder, destination: destination ?? { workspace_id, knowledge_base_id, folder_id } }
}

// Locks what the move needs and reads the move again. Another move may have put folder or destination into another
// knowledge base meanwhile. Then the locks are released, and taken for the knowledge bases that were read last.
async function lockMove(context: UpdateContext, request: UpdateRequest & { seen: Move }): Promise<Move> {
  const { folder, destination } = request.seen
  const isRearranged = folder.knowledge_base_id === destination.knowledge_base_id
  lockStructure(context.tx, {
    workspaceId: folder.workspace_id,
    knowledgeBaseIds: [folder.knowledge_base_id, destination.knowledge_base_id],
    mode: isRearranged ? 'rearrange' : 'empty',
  })
  const locked = await readMove(context, request)
  const isSame =
    locked.folder.knowledge_base_id === folder.knowledge_base_id &&
    locked.destination.knowledge_base_id === destination.knowledge_base_id
  if (isSame) return locked
  releaseLocks(context.tx)
  return lockMove(context, { ...request, seen: locked })
}

async function moveFolder(context: UpdateContext, move: Move & { name: string }): Promise<FolderRow> {
  const { folder, destination } = move
  const folderIds = await subtreeOf(context.tx, folder)
  if (destination.folder_id !== null && folderIds.includes(destination.folder_id)) throw new Refusal('folder_cycle')
  const moved = await updateFolderRow(context.tx, {
    workspace_id: folder.workspace_id,
    id: folder.id,
    name: move.name,
    knowledge_base_id: destination.knowledge_base_id,
    parent_id: destination.folder_id,
  })
  if (folder.knowledge_base_id !== destination.knowledge_base_id) {
    await moveContents(context, { folderIds, destination, folderId: folder.id })
  }
  return moved
}

// Moves everything below a folder to the knowledge base of the folder, with an event for each document.
async function moveContents(
  context: UpdateContext,
  input: { folderIds: readonly number[]; destination: Location; folderId: number },
): Promise<void> {
  const { tx, caller } = context
  const { workspace_id: workspaceId, knowledge_base_id: knowledgeBaseId } = input.destination
  const below = input.folderIds.filter((id) => id !== input.folderId)
  await changeKnowledgeBaseOfFolders(tx, { workspaceId, folderIds: below, knowledgeBaseId })
  const documentIds = await lockDocumentsInFolders(tx, { workspaceId, folderIds: input.folderIds })
  await changeKnowledgeBaseOfDocuments(tx, { workspaceId, documentIds, knowledgeBaseId, userId: caller.userId })
  const documents = await lockDocuments(tx, { workspaceId, documentIds })
  const rowNos = await recordEvents(tx, {
    workspaceId,
    name: 'document.metadata.updated',
    documents: documents.map(eventDocument),
  })
  await markStale(context, {
    workspaceId,
    changes: ['location'],
    documents: documents.map(({ id }, index) => ({ id, eventRowNo: rowNos[index] ?? 0, quiet: true })),
  })
}

async function rename(tx: Transaction, input: { folder: FolderRow; name: string | undefined }): Promise<FolderRow> {
  const { folder } = input
  const name = input.name?.trim() ?? folder.name
  if (name === folder.name) return folder
  const renamed = await renameFolder(tx, { ...folder, name })
  if (renamed === null) throw new Refusal('folder_not_found', { details: { id: folder.id } })
  return renamed
}

function namesLocation(update: FolderUpdate): boolean {
  return update.parent_id !== undefined || update.knowledge_base_id !== undefined
}

function isAt(folder: FolderRow, location: Location): boolean {
  return folder.knowledge_base_id === location.knowledge_base_id && folder.parent_id === location.folder_id
}
