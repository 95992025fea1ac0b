import type { Caller } from '../auth/caller.ts'
import type { Transaction } from '../database/database.ts'
import { Refusal } from '../errors/errors.ts'
import { type FolderRow, insertFolder } from '../knowledge-bases/folders/queries.ts'
import { holdPlace } from '../knowledge-bases/locations.ts'
import { enforceQuota, type QuotaLimits } from '../quotas/quotas.ts'
import type { NamedId } from '../schema/identifiers.ts'

/** The decoded body of `POST /folders`. */
export type FolderCreate = {
  name: string
  knowledge_base_id?: NamedId | undefined
  parent_id?: NamedId | null | undefined
}

/**
 * Creates a folder (decisions 2.2). Refuses with 400 when the body names no place or one that contradicts itself, with
 * 404 and 403 as `findPlace`, and with 409 `quota_exceeded`.
 */
export async function createFolder(
  context: { tx: Transaction; config: QuotaLimits; caller: Caller },
  input: FolderCreate,
): Promise<FolderRow> {
  const { tx, caller } = context
  const place = await holdPlace(tx, {
    caller,
    knowledgeBaseId: input.knowledge_base_id,
    folderId: input.parent_id,
    folderField: 'parent_id',
  })
  if (place === null) throw withoutPlace()
  await enforceQuota(context, { workspaceId: place.workspace_id, quota: 'folders', adding: 1 })
  return insertFolder(tx, {
    workspace_id: place.workspace_id,
    knowledge_base_id: place.knowledge_base_id,
    parent_id: place.folder_id,
    name: input.name.trim(),
    created_by: caller.userId,
  })
}

function withoutPlace(): Refusal {
  const message = 'is required unless parent_id names a folder'
  return new Refusal('invalid_request', { details: { fields: [{ path: '/knowledge_base_id', message }] } })
}
