import { requireWriter } from '../../../shared/auth/caller.ts'
import { requireDocument } from '../../../shared/documents/require.ts'
import { findFolder } from '../../../shared/knowledge-bases/folders.ts'
import { findKnowledgeBase } from '../../../shared/knowledge-bases/lifecycle.ts'
import type { AccountCall } from '../account-page.ts'
import { addressOf, type FolderAddress, pathOf } from './addresses.ts'
import { type Place, placeOf } from './place.ts'

/** The paths of a document, a folder and a knowledge base. The pages that organise one of them stand below its path. */
export const itemPaths = [
  '/d/{documentId}',
  '/kb/{knowledgeBaseId}/folders/{folderId}',
  '/kb/{knowledgeBaseId}',
] as const

/** A document, folder or knowledge base, as the pages that organise it see it. */
export type Item = {
  kind: 'document' | 'folder' | 'base'
  /** The id of the document; the decimal number of a folder or knowledge base. */
  id: string
  name: string
  workspaceId: string
  /** The page of the item. */
  path: string
  /** The folder or root in which the item is; null for a knowledge base. */
  parent: FolderAddress | null
  /** The way to the item for the breadcrumbs; null for a knowledge base. */
  place: Place | null
  /** The version of the body of a document; empty for everything else. */
  version: string
}

/**
 * Returns the item that the path of a page names. Refuses with 404 what the caller cannot see, and with 403 viewers,
 * who may not organise anything.
 */
export async function requireItem(call: AccountCall): Promise<Item> {
  const { caller } = call
  const { database: db } = call.service
  const { documentId } = call.params
  if (documentId !== undefined) {
    const document = await requireDocument(db, { caller, documentId })
    const { id, title: name, workspace_id: workspaceId, version } = document
    requireWriter(caller, workspaceId)
    const parent = { knowledgeBaseId: document.knowledge_base_id, folderId: document.folder_id }
    return {
      ...{ kind: 'document', id, name, workspaceId, version, parent, path: `/d/${id}` },
      place: await placeOf(db, document),
    }
  }
  const address = addressOf(call)
  if (address.folderId === null) {
    const base = await findKnowledgeBase(db, { caller, id: address.knowledgeBaseId })
    requireWriter(caller, base.workspace_id)
    const { name, workspace_id: workspaceId } = base
    return {
      ...{ kind: 'base', id: String(base.id), name, workspaceId, version: '' },
      ...{ path: pathOf(address), parent: null, place: null },
    }
  }
  const folder = await findFolder(db, { caller, id: address.folderId })
  requireWriter(caller, folder.workspace_id)
  const { name, workspace_id: workspaceId, knowledge_base_id: knowledgeBaseId } = folder
  return {
    ...{ kind: 'folder', id: String(folder.id), name, workspaceId, version: '' },
    path: pathOf({ knowledgeBaseId, folderId: folder.id }),
    parent: { knowledgeBaseId, folderId: folder.parent_id },
    place: await placeOf(db, { ...folder, folder_id: folder.parent_id }),
  }
}

/** The path of the page on which the item is listed. */
export function parentPath({ parent }: Item): string {
  return parent === null ? '/' : pathOf(parent)
}
