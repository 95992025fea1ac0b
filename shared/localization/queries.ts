import Type, { type Static } from 'typebox'
import { type Queryable, sql, type Transaction } from '../database.ts'
import { row } from '../row.ts'

const SetShape = Type.Object({
  workspace_id: Type.String(),
  id: Type.String(),
  source_document_id: Type.String(),
  source_locale: Type.String(),
  fallback_locale: Type.String(),
})
const SetRow = row(SetShape)

/** A row of `document_sets`. */
export type SetRow = Static<typeof SetShape>

/** A set of a known workspace. */
export type SetKey = Pick<SetRow, 'workspace_id' | 'id'>

const columns = sql.fragment`s.workspace_id, s.id, s.source_document_id, s.source_locale, s.fallback_locale`

/** A set among the workspaces the caller can see, or null. */
export function visibleSet(
  db: Queryable,
  locator: { id: string; workspaceIds: readonly string[] },
): Promise<SetRow | null> {
  return db.maybeOne(sql.type(SetRow)`
    SELECT ${columns} FROM document_sets s
    WHERE s.workspace_id = ANY(${sql.array([...locator.workspaceIds], 'text')}) AND s.id = ${locator.id}`)
}

/** Inserts a set; its source document joins it afterwards. */
export async function insertSet(tx: Transaction, set: SetRow): Promise<void> {
  await tx.query(sql.unsafe`
    INSERT INTO document_sets (workspace_id, id, source_document_id, source_locale, fallback_locale)
    VALUES (${set.workspace_id}, ${set.id}, ${set.source_document_id}, ${set.source_locale}, ${set.fallback_locale})`)
}

/** Deletes a set that no document is a member of any more, and its audit with it. */
export async function deleteSet(tx: Transaction, key: SetKey): Promise<void> {
  await tx.query(sql.unsafe`
    DELETE FROM document_sets WHERE workspace_id = ${key.workspace_id} AND id = ${key.id}`)
}

/** Sets of one workspace by id. */
export type SetsById = { workspaceId: string; setIds: readonly string[] }

/** Locks sets in id order until the transaction ends, so that of two that empty a set the second one sees it. */
export async function lockSets(tx: Transaction, sets: SetsById): Promise<void> {
  await tx.query(sql.unsafe`
    SELECT FROM document_sets
    WHERE workspace_id = ${sets.workspaceId} AND id = ANY(${sql.array([...sets.setIds], 'text')})
    ORDER BY id FOR UPDATE`)
}

/** Deletes those of the locked sets that have no member left, and their audit with them. */
export async function deleteEmptySets(tx: Transaction, sets: SetsById): Promise<void> {
  await tx.query(sql.unsafe`
    DELETE FROM document_sets s
    WHERE s.workspace_id = ${sets.workspaceId} AND s.id = ANY(${sql.array([...sets.setIds], 'text')})
      AND NOT EXISTS (
        SELECT FROM documents d WHERE d.workspace_id = s.workspace_id AND d.document_set_id = s.id)`)
}
