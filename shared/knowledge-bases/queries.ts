import Type, { type Static } from 'typebox'
import { type Queryable, sql, type Transaction } from '../database/database.ts'
import { row } from '../database/row.ts'
import { type NamedId, Nullable } from '../schema/identifiers.ts'

const KnowledgeBaseShape = Type.Object({
  id: Type.Number(),
  workspace_id: Type.String(),
  name: Type.String(),
  document_count: Type.Number(),
  folder_count: Type.Number(),
  created_at: Type.Number(),
  updated_at: Type.Number(),
  created_by: Nullable(Type.String()),
})
const KnowledgeBaseRow = row(KnowledgeBaseShape)

/** A row of `knowledge_bases` with its counts. */
export type KnowledgeBaseRow = Static<typeof KnowledgeBaseShape>

const columns = sql.fragment`
  k.id, k.workspace_id, k.name,
  (SELECT count(*) FROM documents d WHERE d.workspace_id = k.workspace_id AND d.knowledge_base_id = k.id)
    AS document_count,
  (SELECT count(*) FROM folders f WHERE f.workspace_id = k.workspace_id AND f.knowledge_base_id = k.id)
    AS folder_count,
  k.created_at, k.updated_at, k.created_by`

/** A knowledge base as the caller names it: by its public id, among the workspaces the caller can see. */
export type KnowledgeBaseLocator = { id: NamedId; workspaceIds: readonly string[] }

/** A knowledge base of a known workspace. */
export type KnowledgeBaseKey = { workspaceId: string; id: number }

/** A visible knowledge base, or null. */
export function visibleKnowledgeBase(db: Queryable, locator: KnowledgeBaseLocator): Promise<KnowledgeBaseRow | null> {
  return db.maybeOne(sql.type(KnowledgeBaseRow)`
    SELECT ${columns} ${visible(locator.workspaceIds)} AND i.id = ${locator.id}`)
}

/** The workspace of a visible knowledge base, or null: cheaper than its whole record. */
export function workspaceOfKnowledgeBase(db: Queryable, locator: KnowledgeBaseLocator): Promise<string | null> {
  return db.maybeOneFirst(sql.type(row(Type.Object({ workspace_id: Type.String() })))`
    SELECT k.workspace_id ${visible(locator.workspaceIds)} AND i.id = ${locator.id}`)
}

/** The knowledge base with the lowest id of a workspace, held against deletion until the transaction ends; or null. */
export function lowestKnowledgeBase(tx: Transaction, workspaceId: string): Promise<{ id: number } | null> {
  return tx.maybeOne(sql.type(row(Type.Object({ id: Type.Number() })))`
    SELECT id FROM knowledge_bases WHERE workspace_id = ${workspaceId} ORDER BY id LIMIT 1 FOR KEY SHARE`)
}

/** Holds a workspace until the transaction ends against others that do the same; nobody else waits. */
export async function lockWorkspace(tx: Transaction, workspaceId: string): Promise<void> {
  await tx.query(sql.unsafe`SELECT FROM workspaces WHERE id = ${workspaceId} FOR NO KEY UPDATE`)
}

/** Visible knowledge bases by ascending id, with one more than `limit` when there are more. */
export function knowledgeBasePage(
  db: Queryable,
  page: { workspaceIds: readonly string[]; after: number; limit: number },
): Promise<readonly KnowledgeBaseRow[]> {
  return db.any(sql.type(KnowledgeBaseRow)`
    SELECT ${columns} ${visible(page.workspaceIds)} AND i.id > ${page.after}
    ORDER BY i.id LIMIT ${page.limit + 1}`)
}

const visible = (workspaceIds: readonly string[]) => sql.fragment`
  FROM knowledge_base_directory i
  JOIN knowledge_bases k ON k.workspace_id = i.workspace_id AND k.id = i.id
  WHERE i.workspace_id = ANY(${sql.array([...workspaceIds], 'text')})`

/** Issues an id and inserts the knowledge base. */
export function insertKnowledgeBase(
  tx: Transaction,
  input: { workspaceId: string; name: string; createdBy: string },
): Promise<KnowledgeBaseRow> {
  return tx.one(sql.type(KnowledgeBaseRow)`
    WITH issued AS (
      INSERT INTO knowledge_base_directory (workspace_id) VALUES (${input.workspaceId}) RETURNING workspace_id, id
    )
    INSERT INTO knowledge_bases AS k (workspace_id, id, name, created_by)
    SELECT workspace_id, id, ${input.name}, ${input.createdBy} FROM issued
    RETURNING ${columns}`)
}

/** Renames; the same name again leaves `updated_at`. Null when it was deleted meanwhile. */
export function renameKnowledgeBase(
  tx: Transaction,
  input: KnowledgeBaseKey & { name: string },
): Promise<KnowledgeBaseRow | null> {
  return tx.maybeOne(sql.type(KnowledgeBaseRow)`
    UPDATE knowledge_bases AS k SET name = ${input.name},
      updated_at = CASE WHEN name = ${input.name} THEN updated_at ELSE clock_timestamp() END
    WHERE workspace_id = ${input.workspaceId} AND id = ${input.id}
    RETURNING ${columns}`)
}

/**
 * Deletes the knowledge base and, by foreign key, its folders; its documents must have gone before. False when the
 * knowledge base was gone already.
 */
export async function deleteKnowledgeBaseRow(tx: Transaction, key: KnowledgeBaseKey): Promise<boolean> {
  const { rowCount } = await tx.query(sql.unsafe`
    DELETE FROM knowledge_bases WHERE workspace_id = ${key.workspaceId} AND id = ${key.id}`)
  return rowCount === 1
}

/** Ids of the documents in a knowledge base, locked in id order; one that is just moving away is waited for. */
export function lockDocumentsInKnowledgeBase(tx: Transaction, key: KnowledgeBaseKey): Promise<readonly string[]> {
  return tx.anyFirst(sql.type(row(Type.Object({ id: Type.String() })))`
    SELECT id FROM documents WHERE workspace_id = ${key.workspaceId} AND knowledge_base_id = ${key.id}
    ORDER BY id FOR UPDATE`)
}

/** How firmly `lockStructure` holds a knowledge base; see the README beside this file. */
export type StructureHold = 'add' | 'rearrange' | 'empty'

/** Holds the structure of knowledge bases until the transaction ends; ids that do not exist are left out. */
export async function lockStructure(
  tx: Transaction,
  input: { workspaceId: string; knowledgeBaseIds: readonly number[]; hold: StructureHold },
): Promise<void> {
  await tx.query(sql.unsafe`
    SELECT FROM knowledge_bases
    WHERE workspace_id = ${input.workspaceId} AND id = ANY(${sql.array([...input.knowledgeBaseIds], 'int8')})
    ORDER BY id ${rowLocks[input.hold]}`)
}

const rowLocks = {
  add: sql.fragment`FOR KEY SHARE`,
  rearrange: sql.fragment`FOR NO KEY UPDATE`,
  empty: sql.fragment`FOR UPDATE`,
} satisfies Record<StructureHold, unknown>
