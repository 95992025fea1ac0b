import { type Caller, requireWriter, visibleWorkspaces } from '../auth/caller.ts'
import type { Queryable, Transaction } from '../database/database.ts'
import { Refusal } from '../errors/errors.ts'
import type { NamedId } from '../schema/identifiers.ts'
import { visibleFolder } from './folders.ts'
import { lockStructure, workspaceOfKnowledgeBase } from './queries.ts'

/** Where a folder or document stands; `folder_id` null is the root of the knowledge base. */
export type Place = { workspace_id: string; knowledge_base_id: number; folder_id: number | null }

/** A place that a request body names in order to put something there. */
export type PlaceRequest = {
  caller: Caller
  knowledgeBaseId: NamedId | undefined
  folderId: NamedId | null | undefined
  /** The member of the body that named the folder, for `details.field`. */
  folderField: 'folder_id' | 'parent_id'
}

/**
 * Finds the place that a body names; null when it names neither knowledge base nor folder. Refuses with 404
 * `knowledge_base_not_found` or `folder_not_found` for what the caller cannot see, with 403 where the caller may not
 * write, and with 400 `folder_knowledge_base_mismatch` when the two do not belong together (decisions 2.2).
 */
export async function findPlace(db: Queryable, request: PlaceRequest): Promise<Place | null> {
  const root = await findRoot(db, request)
  const folder = await findFolder(db, request)
  const workspaceId = (folder ?? root)?.workspace_id
  if (workspaceId !== undefined) requireWriter(request.caller, workspaceId)
  if (folder === null) return root
  if (root !== null && root.knowledge_base_id !== folder.knowledge_base_id) {
    throw new Refusal('folder_knowledge_base_mismatch')
  }
  return { workspace_id: folder.workspace_id, knowledge_base_id: folder.knowledge_base_id, folder_id: folder.id }
}

/**
 * As `findPlace`, and the place stays where it is until the transaction ends: no folder above it can be deleted or
 * moved to another knowledge base.
 */
export async function holdPlace(tx: Transaction, request: PlaceRequest): Promise<Place | null> {
  const place = await findPlace(tx, request)
  if (place === null) return null
  await lockStructure(tx, {
    workspaceId: place.workspace_id,
    knowledgeBaseIds: [place.knowledge_base_id],
    hold: 'add',
  })
  const held = await findPlace(tx, request)
  return held?.knowledge_base_id === place.knowledge_base_id ? held : holdPlace(tx, request)
}

async function findRoot(db: Queryable, request: PlaceRequest): Promise<Place | null> {
  const { knowledgeBaseId: id, caller } = request
  if (id === undefined) return null
  const workspaceId = await workspaceOfKnowledgeBase(db, { id, workspaceIds: visibleWorkspaces(caller) })
  if (workspaceId === null) {
    throw new Refusal('knowledge_base_not_found', { details: { id, field: 'knowledge_base_id' } })
  }
  return { workspace_id: workspaceId, knowledge_base_id: Number(id), folder_id: null }
}

async function findFolder(db: Queryable, request: PlaceRequest) {
  const { folderId: id, caller, folderField } = request
  if (id === undefined || id === null) return null
  const folder = await visibleFolder(db, { id, workspaceIds: visibleWorkspaces(caller) })
  if (folder === null) throw new Refusal('folder_not_found', { details: { id, field: folderField } })
  return folder
}
