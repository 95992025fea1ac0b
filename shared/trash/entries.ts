import Type, { type Static } from 'typebox'
import { type Caller, visibleWorkspaces } from '../auth/caller.ts'
import { type Queryable, sql } from '../database/database.ts'
import { row } from '../database/row.ts'
import { inWorkspaces } from '../database/workspaces.ts'
import { Refusal } from '../errors/errors.ts'
import { Nullable } from '../schema/identifiers.ts'

const TrashEntryShape = Type.Object({
  workspace_id: Type.String(),
  id: Type.String(),
  type: Type.Enum(['document', 'folder', 'knowledge_base']),
  document_id: Nullable(Type.String()),
  folder_id: Nullable(Type.Number()),
  knowledge_base_id: Type.Number(),
  parent_folder_id: Nullable(Type.Number()),
  name: Type.String(),
  path_text: Type.String(),
  document_count: Type.Number(),
  not_restored: Type.Array(Type.String()),
  deleted_at: Type.Number(),
  deleted_by: Nullable(Type.String()),
  expires_at: Type.Number(),
})
/** The schema of a row with `entryColumns`. */
export const TrashEntryRow = row(TrashEntryShape)

/** A row of `trash_entries`: what one deletion deleted, and where it was. */
export type TrashEntryRow = Static<typeof TrashEntryShape>

/** The columns of an entry, for statements that name the table `e`. */
export const entryColumns = sql.fragment`
  e.workspace_id, e.id, e.type, e.document_id, e.folder_id, e.knowledge_base_id, e.parent_folder_id, e.name, e.path_text,
  e.document_count, e.not_restored, e.deleted_at, e.deleted_by, e.expires_at`

/** The condition that an entry `e` can be restored. The sweep removes the other entries soon. */
export const isKept = sql.fragment`e.expires_at > now()`

/** Returns an entry that the caller can see. Refuses with 404 `trash_not_found`. */
export async function findEntry(db: Queryable, { caller, id }: { caller: Caller; id: string }): Promise<TrashEntryRow> {
  const entry = await db.maybeOne(sql.type(TrashEntryRow)`
    SELECT ${entryColumns} FROM trash_entries e
    WHERE ${inWorkspaces(sql.fragment`e.workspace_id`, visibleWorkspaces(caller))} AND e.id = ${id} AND ${isKept}`)
  if (entry === null) throw trashNotFound(id)
  return entry
}

/** The refusal of a call about an entry that does not exist or that the caller cannot see: 404 `trash_not_found`. */
export function trashNotFound(id: string): Refusal {
  return new Refusal('trash_not_found', { details: { id } })
}
