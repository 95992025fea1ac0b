import Type, { type Static } from 'typebox'
import { prepared, type Queryable, sql, type Transaction } from '../database/database.ts'
import { row } from '../database/row.ts'
import { inWorkspaces } from '../database/workspaces.ts'
import type { DocumentLocator } from '../documents/queries.ts'

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

/** The primary key of a set. */
type SetKey = Pick<SetRow, 'workspace_id' | 'id'>

const columns = sql.fragment`s.workspace_id, s.id, s.source_document_id, s.source_locale, s.fallback_locale`

/** Returns a set in one of the given workspaces, or null. */
export function visibleSet(
  db: Queryable,
  locator: { id: string; workspaceIds: readonly string[] },
): Promise<SetRow | null> {
  return db.maybeOne(sql.type(SetRow)`
    SELECT ${columns} FROM document_sets s
    WHERE ${inWorkspaces(sql.fragment`s.workspace_id`, locator.workspaceIds)} AND s.id = ${locator.id}`)
}

const VariantShape = Type.Object({
  document_id: Type.String(),
  locale: Type.String(),
  fallback_locale: Type.String(),
  source_locale: Type.String(),
})

/**
 * Returns the members of the set of a visible document, each with the source and fallback locale of the set. An
 * ordinary document, which is in no set, has none.
 */
export function variantsOf(db: Queryable, locator: DocumentLocator): Promise<readonly Static<typeof VariantShape>[]> {
  return db.any(
    prepared(sql.type(row(VariantShape))`
    SELECT m.id AS document_id, m.locale, s.fallback_locale, s.source_locale
    FROM document_directory i
    JOIN documents d ON d.workspace_id = i.workspace_id AND d.id = i.id
    JOIN document_sets s ON s.workspace_id = d.workspace_id AND s.id = d.document_set_id
    JOIN documents m ON m.workspace_id = s.workspace_id AND m.document_set_id = s.id
    WHERE i.id = ${locator.documentId} AND ${inWorkspaces(sql.fragment`i.workspace_id`, locator.workspaceIds)}`),
  )
}

const FactsShape = Type.Object({ id: Type.String(), has_source: Type.Boolean(), has_open_unit: Type.Boolean() })

/**
 * Tells for each translation whether its source document exists, and whether the translation has a unit that is
 * missing, outdated or in conflict.
 */
export function translationFacts(
  db: Queryable,
  input: { workspaceIds: readonly string[]; documentIds: readonly string[] },
): Promise<readonly Static<typeof FactsShape>[]> {
  return db.any(
    prepared(sql.type(row(FactsShape))`
    SELECT t.id,
      EXISTS (
        SELECT FROM documents s WHERE s.workspace_id = t.workspace_id AND s.id = t.translated_from_document_id
      ) AS has_source,
      EXISTS (
        SELECT FROM translation_units u
        WHERE u.workspace_id = t.workspace_id AND u.target_document_id = t.id
          AND u.status IN ('missing', 'source_changed', 'conflict')
      ) AS has_open_unit
    FROM documents t
    WHERE ${inWorkspaces(sql.fragment`t.workspace_id`, input.workspaceIds)}
      AND t.id = ANY(${sql.array([...input.documentIds], 'text')})`),
  )
}

/** Inserts a set. Its source document becomes a member afterwards. */
export async function insertSet(tx: Transaction, set: SetRow): Promise<void> {
  await tx.query(sql.unsafe`
    INSERT INTO document_sets (workspace_id, id, source_document_id, source_locale, fallback_locale)
    VALUES (${set.workspace_id}, ${set.id}, ${set.source_document_id}, ${set.source_locale}, ${set.fallback_locale})`)
}

/** Deletes a set without members, together with its audit. */
export async function deleteSet(tx: Transaction, key: SetKey): Promise<void> {
  await tx.query(sql.unsafe`
    DELETE FROM document_sets WHERE workspace_id = ${key.workspace_id} AND id = ${key.id}`)
}

/** A list of document sets of one workspace by their ids. */
type SetsById = { workspaceId: string; setIds: readonly string[] }

/**
 * Locks document sets in id order until the transaction ends, and returns them. Two transactions that delete the last
 * members of a set wait for each other here. So the second transaction sees that the set is empty.
 */
export async function lockSets(tx: Transaction, sets: SetsById): Promise<readonly SetRow[]> {
  return tx.any(sql.type(SetRow)`
    SELECT ${columns} FROM document_sets s
    WHERE s.workspace_id = ${sets.workspaceId} AND s.id = ANY(${sql.array([...sets.setIds], 'text')})
    ORDER BY s.id FOR UPDATE`)
}

const SetId = row(Type.Object({ id: Type.String() }))

/**
 * Deletes the sets that have no members, not even in the trash, together with their audit. Returns the ids of the
 * deleted sets. The caller has locked all given sets by `lockSets`.
 */
export function deleteEmptySets(tx: Transaction, sets: SetsById): Promise<readonly string[]> {
  return tx.anyFirst(sql.type(SetId)`
    DELETE FROM document_sets s
    WHERE s.workspace_id = ${sets.workspaceId} AND s.id = ANY(${sql.array([...sets.setIds], 'text')})
      AND NOT EXISTS (
        SELECT FROM documents d WHERE d.workspace_id = s.workspace_id AND d.document_set_id = s.id)
      AND NOT EXISTS (
        SELECT FROM trash_rows t
        WHERE t.workspace_id = s.workspace_id AND t.table_name = 'documents' AND t.row ->> 'document_set_id' = s.id)
    RETURNING s.id`)
}
