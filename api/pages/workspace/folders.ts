import { type Caller, isWriter, requireWriter } from '../../../shared/auth/caller.ts'
import { findFolder } from '../../../shared/knowledge-bases/folders.ts'
import { findKnowledgeBase } from '../../../shared/knowledge-bases/lifecycle.ts'
import type { AccountCall } from '../account-page.ts'
import { callerOfSession } from '../page-writes.ts'
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
  return found(call, await callerOfSession(call))
}

/** Returns the folder as `requireFolder` does, and refuses with 403 viewers. */
export async function requireWritableFolder(call: AccountCall): Promise<AddressedFolder> {
  const caller = await callerOfSession(call)
  const folder = await found(call, caller)
  requireWriter(caller, folder.workspaceId)
  return folder
}

async function found(call: AccountCall, caller: Caller): Promise<AddressedFolder> {
  const { database: db } = call.service
  const asked = addressOf(call)
  const row =
    asked.folderId === null
      ? {
          ...(await findKnowledgeBase(db, { caller, id: asked.knowledgeBaseId })),
          knowledge_base_id: asked.knowledgeBaseId,
        }
      : await findFolder(db, { caller, id: asked.folderId })
  const { workspace_id, knowledge_base_id, name } = row
  return {
    workspaceId: workspace_id,
    name,
    address: { knowledgeBaseId: knowledge_base_id, folderId: asked.folderId },
    place: await placeOf(db, { workspace_id, knowledge_base_id, folder_id: asked.folderId }),
    mayWrite: isWriter(caller, workspace_id),
  }
}
