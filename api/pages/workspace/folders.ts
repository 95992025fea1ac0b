import { isWriter, requireWriter, visibleWorkspaces } from '../../../shared/auth/caller.ts'
import { findFolder } from '../../../shared/knowledge-bases/folders.ts'
import { workspaceOfKnowledgeBase } from '../../../shared/knowledge-bases/queries.ts'
import type { AccountCall } from '../account-page.ts'
import { pageMissing } from '../refusals.ts'
import { addressOf, type FolderAddress } from './addresses.ts'
import { type Place, placeOf } from './place.ts'

/** The folder or knowledge base that the path of a page names. */
export type AddressedFolder = {
  workspaceId: string
  name: string
  /** Where it is now. A folder may have moved to another knowledge base since its path was written down. */
  address: FolderAddress
  /** The way to the folder, with the folder itself as the last. */
  place: Place
  mayWrite: boolean
}

/** Returns the folder or knowledge base that the path of a page names. Refuses with 404 what the caller cannot see. */
export async function requireFolder(call: AccountCall): Promise<AddressedFolder> {
  return find(call)
}

/** Returns the folder as `requireFolder` does, and refuses with 403 viewers. */
export async function requireWritableFolder(call: AccountCall): Promise<AddressedFolder> {
  const folder = await find(call)
  requireWriter(call.caller, folder.workspaceId)
  return folder
}

async function find(call: AccountCall): Promise<AddressedFolder> {
  const { database: db } = call.service
  const { location, address } = await locate(call)
  const place = await placeOf(db, location)
  return {
    workspaceId: location.workspace_id,
    name: (place.folders.at(-1) ?? place.knowledgeBase).name,
    address,
    place,
    mayWrite: isWriter(call.caller, location.workspace_id),
  }
}

async function locate(call: AccountCall) {
  const { caller } = call
  const { database: db } = call.service
  const asked = addressOf(call)
  if (asked.folderId !== null) {
    const { id, workspace_id, knowledge_base_id } = await findFolder(db, { caller, id: asked.folderId })
    const address = { knowledgeBaseId: knowledge_base_id, folderId: id }
    return { location: { workspace_id, knowledge_base_id, folder_id: id }, address }
  }
  const { knowledgeBaseId: id } = asked
  const workspace_id = await workspaceOfKnowledgeBase(db, { id, workspaceIds: visibleWorkspaces(caller) })
  if (workspace_id === null) throw pageMissing()
  return { location: { workspace_id, knowledge_base_id: id, folder_id: null }, address: asked }
}
