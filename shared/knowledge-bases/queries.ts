import Type, { type Static } from 'typebox'
import { prepared, type Queryable, sql, type Transaction } from '../database/database.ts'
import { row } from '../database/row.ts'
import { inWorkspaces, mergedPage } from '../database/workspaces.ts'
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
const WorkspaceRow = row(Type.Object({ workspace_id: Type.String() }))
const IdRow = row(Type.Object({ id: Type.Number() }))
const NameRow = row(Type.Object({ name: Type.String() }))
const DocumentIdRow = row(Type.Object({ id: Type.String() }))

/** A row of `knowledge_bases` with the numbers of its documents and folders. */
export type KnowledgeBaseRow = Static<typeof KnowledgeBaseShape>

const columns = sql.fragment`
  k.id, k.workspace_id, k.name,
  (SELECT coalesce(sum(c.count), 0)::int8 FROM document_counts c
   WHERE c.workspace_id = k.workspace_id AND c.knowledge_base_id = k.id) AS document_count,
  (SELECT count(*) FROM folders f WHERE f.workspace_id = k.workspace_id AND f.knowledge_base_id = k.id)
    AS folder_count,
  k.created_at, k.updated_at, k.created_by`

const located = ({ id, workspaceIds }: KnowledgeBaseLocator) => sql.fragment`
  FROM knowledge_base_directory i
  JOIN knowledge_bases k ON k.workspace_id = i.workspace_id AND k.id = i.id
  WHERE i.id = ${id} AND ${inWorkspaces(sql.fragment`i.workspace_id`, workspaceIds)}`

/** The public id of a knowledge base, and the workspaces that the caller can see. */
export type KnowledgeBaseLocator = { id: NamedId; workspaceIds: readonly string[] }

/** The primary key of a knowledge base. */
export type KnowledgeBaseKey = { workspaceId: string; id: number }

/** Returns a visible knowledge base, or null. */
export function visibleKnowledgeBase(db: Queryable, locator: KnowledgeBaseLocator): Promise<KnowledgeBaseRow | null> {
  return db.maybeOne(sql.type(KnowledgeBaseRow)`
    SELECT ${columns} ${located(locator)}`)
}

/**
 * Returns the workspace of a visible knowledge base, or null. Cheaper than `visibleKnowledgeBase`, which counts
 * documents and folders.
 */
export function workspaceOfKnowledgeBase(db: Queryable, locator: KnowledgeBaseLocator): Promise<string | null> {
  return db.maybeOneFirst(sql.type(WorkspaceRow)`
    SELECT k.workspace_id ${located(locator)}`)
}

/**
 * Returns the workspace of a visible knowledge base, or null. Until the transaction ends, nobody can delete the
 * knowledge base, delete one of its folders, or move a folder into or out of it.
 */
export function lockKnowledgeBase(tx: Transaction, locator: KnowledgeBaseLocator): Promise<string | null> {
  return tx.maybeOneFirst(
    prepared(sql.type(WorkspaceRow)`
    SELECT k.workspace_id ${located(locator)} ${rowLocks.add} OF k`),
  )
}

/**
 * Returns the knowledge base with the lowest id of a workspace, or null. Nobody can delete the knowledge base until the
 * transaction ends.
 */
export function lowestKnowledgeBase(tx: Transaction, workspaceId: string): Promise<{ id: number } | null> {
  return tx.maybeOne(
    prepared(sql.type(IdRow)`
    SELECT id FROM knowledge_bases WHERE workspace_id = ${workspaceId} ORDER BY id LIMIT 1 FOR KEY SHARE`),
  )
}

/**
 * Locks the row of a workspace until the transaction ends. Statements that insert rows with a foreign key to the
 * workspace do not wait.
 */
export async function lockWorkspace(tx: Transaction, workspaceId: string): Promise<void> {
  await tx.query(sql.unsafe`SELECT FROM workspaces WHERE id = ${workspaceId} FOR NO KEY UPDATE`)
}

const NamedShape = Type.Object({ id: Type.Number(), name: Type.String() })
const NamedRow = row(NamedShape)

/** Returns the names of the visible ones among some knowledge bases, in the order of the ids. */
export function namesOfKnowledgeBases(
  db: Queryable,
  { ids, workspaceIds }: { ids: readonly number[]; workspaceIds: readonly string[] },
): Promise<readonly Static<typeof NamedShape>[]> {
  return db.any(sql.type(NamedRow)`
    SELECT k.id, k.name FROM knowledge_bases k
    WHERE ${inWorkspaces(sql.fragment`k.workspace_id`, workspaceIds)} AND k.id = ANY(${sql.array([...ids], 'int8')})
    ORDER BY k.id`)
}

/** Returns up to `limit + 1` visible knowledge bases in id order, so that the caller sees if more follow. */
export function knowledgeBasePage(
  db: Queryable,
  page: { workspaceIds: readonly string[]; after: number; limit: number },
): Promise<readonly KnowledgeBaseRow[]> {
  const limit = page.limit + 1
  const pageOf = (workspaceId: ReturnType<typeof sql.fragment>) => sql.fragment`
    SELECT k.* FROM knowledge_bases k WHERE k.workspace_id = ${workspaceId} AND k.id > ${page.after}
    ORDER BY k.id LIMIT ${limit}`
  const merged = mergedPage({ workspaceIds: page.workspaceIds, pageOf, order: sql.fragment`page.id`, limit })
  return db.any(sql.type(KnowledgeBaseRow)`SELECT ${columns} FROM (${merged}) AS k ORDER BY k.id`)
}

/** Issues an id and inserts a knowledge base with that id. */
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

/**
 * Renames a knowledge base. If the name does not change, `updated_at` stays. Returns null when the row does not exist.
 */
export function renameRow(
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
 * Returns the name of a knowledge base, or null when the knowledge base does not exist. Nobody else can change the name
 * until the transaction ends.
 */
export function lockName(tx: Transaction, key: KnowledgeBaseKey): Promise<string | null> {
  return tx.maybeOneFirst(sql.type(NameRow)`
    SELECT name FROM knowledge_bases WHERE workspace_id = ${key.workspaceId} AND id = ${key.id} FOR NO KEY UPDATE`)
}

/** Returns the name of a knowledge base, or null when the knowledge base does not exist. */
export function nameOfKnowledgeBase(db: Queryable, key: KnowledgeBaseKey): Promise<string | null> {
  return db.maybeOneFirst(sql.type(NameRow)`
    SELECT name FROM knowledge_bases WHERE workspace_id = ${key.workspaceId} AND id = ${key.id}`)
}

/**
 * Deletes a knowledge base and, by foreign key, its folders. The documents of the knowledge base must have been deleted
 * before.
 */
export async function deleteKnowledgeBaseRow(tx: Transaction, key: KnowledgeBaseKey): Promise<void> {
  await tx.query(sql.unsafe`DELETE FROM knowledge_bases WHERE workspace_id = ${key.workspaceId} AND id = ${key.id}`)
}

/** Locks the documents of a knowledge base in id order; returns their ids. Waits for documents that are moving. */
export function lockDocumentsInKnowledgeBase(tx: Transaction, key: KnowledgeBaseKey): Promise<readonly string[]> {
  return tx.anyFirst(sql.type(DocumentIdRow)`
    SELECT id FROM documents WHERE workspace_id = ${key.workspaceId} AND knowledge_base_id = ${key.id}
    ORDER BY id FOR UPDATE`)
}

/** The strength of the lock that `lockStructure` takes; the README beside this file says which mode a change needs. */
export type StructureMode = 'add' | 'rearrange' | 'empty'

/** Locks the structure of knowledge bases in id order until the transaction ends. Ignores ids that do not exist. */
export async function lockStructure(
  tx: Transaction,
  input: { workspaceId: string; knowledgeBaseIds: readonly number[]; mode: StructureMode },
): Promise<void> {
  await tx.query(
    prepared(sql.unsafe`
    SELECT FROM knowledge_bases
    WHERE workspace_id = ${input.workspaceId} AND id = ANY(${sql.array([...input.knowledgeBaseIds], 'int8')})
    ORDER BY id ${rowLocks[input.mode]}`),
  )
}

const rowLocks = {
  add: sql.fragment`FOR KEY SHARE`,
  rearrange: sql.fragment`FOR NO KEY UPDATE`,
  empty: sql.fragment`FOR UPDATE`,
} satisfies Record<StructureMode, unknown>
