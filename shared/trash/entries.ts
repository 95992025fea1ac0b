import Type, { type Static } from 'typebox'
import { type Caller, visibleWorkspaces } from '../auth/caller.ts'
import type { Config } from '../config/config.ts'
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

/** The setting that says how long entries are kept. */
export type TrashRetention = Pick<Config, 'TRASH_RETENTION_DAYS'>

/** The columns of an entry, for statements that name the table `e`. */
export function entryColumns(retention: TrashRetention) {
  return sql.fragment`
    e.workspace_id, e.id, e.type, e.document_id, e.folder_id, e.knowledge_base_id, e.parent_folder_id, e.name,
    e.path_text, e.document_count, e.not_restored, e.deleted_at, e.deleted_by, ${expiryOf(retention)} AS expires_at`
}

/** The condition that an entry `e` can be restored. The sweep removes the other entries soon. */
export function isKept(retention: TrashRetention) {
  return sql.fragment`(${expiryOf(retention)} > now())`
}

/** Returns an entry that the caller can see. Refuses with 404 `trash_not_found`. */
export async function findEntry(
  db: Queryable,
  { caller, id, retention }: { caller: Caller; id: string; retention: TrashRetention },
): Promise<TrashEntryRow> {
  const entry = await db.maybeOne(sql.type(TrashEntryRow)`
    SELECT ${entryColumns(retention)} FROM trash_entries e
    WHERE ${inWorkspaces(sql.fragment`e.workspace_id`, visibleWorkspaces(caller))} AND e.id = ${id}
      AND ${isKept(retention)}`)
  if (entry === null) throw trashNotFound(id)
  return entry
}

/** The refusal of a call about an entry that does not exist or that the caller cannot see: 404 `trash_not_found`. */
export function trashNotFound(id: string): Refusal {
  return new Refusal('trash_not_found', { details: { id } })
}

// When an entry `e` expires. A retention that was shortened after the deletion counts for the entry, too. A longer
// retention counts for later deletions only.
function expiryOf({ TRASH_RETENTION_DAYS: days }: TrashRetention) {
  return sql.fragment`least(e.expires_at, e.deleted_at + make_interval(days => ${days}))`
}
