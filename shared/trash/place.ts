import type { Caller } from '../auth/caller.ts'
import type { Transaction } from '../database/database.ts'
import { Refusal } from '../errors/errors.ts'
import { visibleFolder } from '../knowledge-bases/folders.ts'
import { type Location, lockLocation } from '../knowledge-bases/locations.ts'
import { lockKnowledgeBase, lockStructure } from '../knowledge-bases/queries.ts'
import type { NamedId } from '../schema/identifiers.ts'
import type { TrashEntryRow } from './entries.ts'

/** The members of a request body that say where a document or folder is restored. */
export type PlaceInput = { knowledge_base_id?: NamedId | undefined; folder_id?: NamedId | null | undefined }

type Request = { caller: Caller; entry: TrashEntryRow; place: PlaceInput }

/**
 * Finds the place to which an entry is restored, and locks it until the transaction ends. Without a named place it is
 * the folder that contained the document or folder, or else the root of its knowledge base. A knowledge base has no
 * place, so the result is null. Refuses with 404 a named place that the caller cannot see, and with 403 a place in
 * which the caller may not write. Refuses with 400 `folder_knowledge_base_mismatch`, `cross_workspace_move`, or
 * `invalid_request` for the place of a knowledge base. Refuses with 409 `parent_missing` when the knowledge base is
 * gone and no place is named.
 */
export async function lockPlace(tx: Transaction, { caller, entry, place }: Request): Promise<Location | null> {
  if (entry.type === 'knowledge_base') return requireNoPlace(place)
  const { knowledge_base_id: knowledgeBaseId, folder_id: folderId } = place
  const named = await lockLocation(tx, { caller, knowledgeBaseId, folderId, folderField: 'folder_id' })
  if (named === null) return lockOldPlace(tx, folderId === null ? { ...entry, parent_folder_id: null } : entry)
  if (named.workspace_id !== entry.workspace_id) throw new Refusal('cross_workspace_move')
  return named
}

function requireNoPlace(place: PlaceInput): null {
  const fields = (['knowledge_base_id', 'folder_id'] as const)
    .filter((member) => (place[member] ?? null) !== null)
    .map((member) => ({ path: `/${member}`, message: 'is not allowed: a knowledge base has no place' }))
  if (fields.length > 0) throw new Refusal('invalid_request', { details: { fields } })
  return null
}

type OldPlace = Pick<TrashEntryRow, 'workspace_id' | 'knowledge_base_id' | 'parent_folder_id'>

// The folder may have been moved to another knowledge base, and may move again before it is locked.
async function lockOldPlace(tx: Transaction, place: OldPlace): Promise<Location> {
  const { workspace_id, knowledge_base_id } = place
  const seen = await oldFolder(tx, place)
  if (seen === null) {
    if ((await lockKnowledgeBase(tx, { id: knowledge_base_id, workspaceIds: [workspace_id] })) === null) {
      throw new Refusal('parent_missing', { details: { knowledge_base_id } })
    }
    return { workspace_id, knowledge_base_id, folder_id: null }
  }
  await lockStructure(tx, { workspaceId: workspace_id, knowledgeBaseIds: [seen.knowledge_base_id], mode: 'add' })
  const locked = await oldFolder(tx, place)
  if (locked?.knowledge_base_id !== seen.knowledge_base_id) return lockOldPlace(tx, place)
  return { workspace_id, knowledge_base_id: locked.knowledge_base_id, folder_id: locked.id }
}

async function oldFolder(tx: Transaction, { workspace_id, parent_folder_id }: OldPlace) {
  if (parent_folder_id === null) return null
  return visibleFolder(tx, { id: parent_folder_id, workspaceIds: [workspace_id] })
}
