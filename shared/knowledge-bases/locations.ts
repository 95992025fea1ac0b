import { type Caller, requireWriter, visibleWorkspaces } from '../auth/caller.ts'
import type { Queryable, Transaction } from '../database/database.ts'
import { Refusal } from '../errors/errors.ts'
import type { NamedId } from '../schema/identifiers.ts'
import { type FolderRow, visibleFolder } from './folders.ts'
import { type KnowledgeBaseLocator, lockKnowledgeBase, lockStructure, workspaceOfKnowledgeBase } from './queries.ts'

/** The folder that contains a folder or document; `folder_id` null is the root of the knowledge base. */
export type Location = { workspace_id: string; knowledge_base_id: number; folder_id: number | null }

/** The members of a request body that name a location, and the caller who sends them. */
export type LocationRequest = {
  caller: Caller
  knowledgeBaseId: NamedId | undefined
  folderId: NamedId | null | undefined
  /** The member of the body that named the folder, for `details.field` of a refusal. */
  folderField: 'folder_id' | 'parent_id'
}

/**
 * Finds the location that a request body names. Returns null when the body names neither a knowledge base nor a folder.
 * Refuses with 404 `knowledge_base_not_found` or `folder_not_found` when the caller cannot see them, and with 403 when
 * the caller may not write there. Refuses with 400 `folder_knowledge_base_mismatch` when the folder is in another
 * knowledge base.
 */
export async function findLocation(db: Queryable, request: LocationRequest): Promise<Location | null> {
  const root = await findRoot(request, (locator) => workspaceOfKnowledgeBase(db, locator))
  const folder = await findNamedFolder(db, request)
  const workspaceId = (folder ?? root)?.workspace_id
  if (workspaceId !== undefined) requireWriter(request.caller, workspaceId)
  if (folder === null) return root
  if (root !== null && root.knowledge_base_id !== folder.knowledge_base_id) {
    throw new Refusal('folder_knowledge_base_mismatch')
  }
  return { workspace_id: folder.workspace_id, knowledge_base_id: folder.knowledge_base_id, folder_id: folder.id }
}

/**
 * Finds the location that a request body names, and locks it until the transaction ends. Meanwhile no folder above the
 * location can be deleted or moved to another knowledge base. Returns null and refuses in the same cases as
 * `findLocation`.
 */
export async function lockLocation(tx: Transaction, request: LocationRequest): Promise<Location | null> {
  if ((request.folderId ?? null) === null) return lockRoot(tx, request)
  const seen = await findLocation(tx, request)
  if (seen === null) return null
  await lockStructure(tx, {
    workspaceId: seen.workspace_id,
    knowledgeBaseIds: [seen.knowledge_base_id],
    mode: 'add',
  })
  const locked = await findLocation(tx, request)
  return locked?.knowledge_base_id === seen.knowledge_base_id ? locked : lockLocation(tx, request)
}

async function lockRoot(tx: Transaction, request: LocationRequest): Promise<Location | null> {
  const root = await findRoot(request, (locator) => lockKnowledgeBase(tx, locator))
  if (root !== null) requireWriter(request.caller, root.workspace_id)
  return root
}

async function findRoot(
  { knowledgeBaseId: id, caller }: LocationRequest,
  find: (locator: KnowledgeBaseLocator) => Promise<string | null>,
): Promise<Location | null> {
  if (id === undefined) return null
  const workspaceId = await find({ id, workspaceIds: visibleWorkspaces(caller) })
  if (workspaceId === null) {
    throw new Refusal('knowledge_base_not_found', { details: { id, field: 'knowledge_base_id' } })
  }
  return { workspace_id: workspaceId, knowledge_base_id: Number(id), folder_id: null }
}

async function findNamedFolder(db: Queryable, request: LocationRequest): Promise<FolderRow | null> {
  const { folderId: id, caller, folderField } = request
  if (id === undefined || id === null) return null
  const folder = await visibleFolder(db, { id, workspaceIds: visibleWorkspaces(caller) })
  if (folder === null) throw new Refusal('folder_not_found', { details: { id, field: folderField } })
  return folder
}
