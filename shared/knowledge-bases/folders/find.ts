import { type Caller, requireWriter, visibleWorkspaces } from '../../auth/caller.ts'
import type { Queryable } from '../../database/database.ts'
import { Refusal } from '../../errors/errors.ts'
import { type FolderRow, visibleFolder } from '../folders.ts'
import type { Folder } from './schema.ts'

/** Who asks for which folder. */
type Wanted = { caller: Caller; id: number }

/** The folder the path names, as far as the caller can see it; otherwise 404. */
export async function findFolder(db: Queryable, { caller, id }: Wanted): Promise<FolderRow> {
  const folder = await visibleFolder(db, { id, workspaceIds: visibleWorkspaces(caller) })
  if (folder === null) throw new Refusal('folder_not_found', { details: { id } })
  return folder
}

/** As `findFolder`, and 403 for viewers. */
export async function findWritableFolder(db: Queryable, wanted: Wanted): Promise<FolderRow> {
  const folder = await findFolder(db, wanted)
  requireWriter(wanted.caller, folder.workspace_id)
  return folder
}

/** A row as the API returns it (decisions 2.1). */
export function presentFolder(row: FolderRow): Folder {
  const { workspace_id: _workspace, ...folder } = row
  return folder
}
