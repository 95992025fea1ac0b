import Type, { type Static } from 'typebox'
import { type Caller, requireWriter, visibleWorkspaces } from '../auth/caller.ts'
import { type Queryable, sql, type Transaction } from '../database/database.ts'
import { row } from '../database/row.ts'
import { inWorkspaces } from '../database/workspaces.ts'
import { Refusal } from '../errors/errors.ts'
import { type NamedId, Nullable } from '../schema/identifiers.ts'
import type { Folder } from './schema.ts'

const FolderShape = Type.Object({
  workspace_id: Type.String(),
  id: Type.Number(),
  knowledge_base_id: Type.Number(),
  parent_id: Nullable(Type.Number()),
  name: Type.String(),
  created_at: Type.Number(),
  updated_at: Type.Number(),
  created_by: Nullable(Type.String()),
})
const FolderRow = row(FolderShape)
const IdRow = row(Type.Object({ id: Type.Number() }))

/** A row of `folders`. */
export type FolderRow = Static<typeof FolderShape>

const columns = sql.fragment`
  f.workspace_id, f.id, f.knowledge_base_id, f.parent_id, f.name, f.created_at, f.updated_at, f.created_by`

/** A caller and the id of the folder that the path of the request names. */
type NamedFolder = { caller: Caller; id: number }

/** Returns a folder that the caller can see; refuses with 404 `folder_not_found`. */
export async function findFolder(db: Queryable, { caller, id }: NamedFolder): Promise<FolderRow> {
  const folder = await visibleFolder(db, { id, workspaceIds: visibleWorkspaces(caller) })
  if (folder === null) throw new Refusal('folder_not_found', { details: { id } })
  return folder
}

/**
 * Returns a folder that the caller may change. Refuses with 404 `folder_not_found`, and with 403 when the caller is a
 * viewer.
 */
export async function findWritableFolder(db: Queryable, named: NamedFolder): Promise<FolderRow> {
  const folder = await findFolder(db, named)
  requireWriter(named.caller, folder.workspace_id)
  return folder
}

/**
 * Returns a folder that the caller may change. Nobody else can rename the folder until the transaction ends. Refuses as
 * `findWritableFolder` does.
 */
export async function lockWritableFolder(tx: Transaction, named: NamedFolder): Promise<FolderRow> {
  const { workspace_id } = await findWritableFolder(tx, named)
  const locked = await tx.maybeOne(sql.type(FolderRow)`
    SELECT ${columns} FROM folders f WHERE workspace_id = ${workspace_id} AND id = ${named.id} FOR NO KEY UPDATE`)
  if (locked === null) throw new Refusal('folder_not_found', { details: { id: named.id } })
  return locked
}

/** Returns a folder in the shape of the API, which leaves out the workspace. */
export function presentFolder(row: FolderRow): Folder {
  const { workspace_id: _workspace, ...folder } = row
  return folder
}

/** Returns a visible folder, or null. */
export function visibleFolder(
  db: Queryable,
  locator: { id: NamedId; workspaceIds: readonly string[] },
): Promise<FolderRow | null> {
  return db.maybeOne(sql.type(FolderRow)`
    SELECT ${columns}
    FROM folder_directory i
    JOIN folders f ON f.workspace_id = i.workspace_id AND f.id = i.id
    WHERE i.id = ${locator.id} AND ${inWorkspaces(sql.fragment`i.workspace_id`, locator.workspaceIds)}`)
}

/** Returns every folder of a knowledge base in the order of the ids. */
export function foldersOfKnowledgeBase(
  db: Queryable,
  key: { workspaceId: string; id: number },
): Promise<readonly FolderRow[]> {
  return db.any(sql.type(FolderRow)`
    SELECT ${columns} FROM folders f
    WHERE f.workspace_id = ${key.workspaceId} AND f.knowledge_base_id = ${key.id}
    ORDER BY f.id`)
}

/** Returns the ids of all folders of a knowledge base. */
export function idsOfFolders(db: Queryable, key: { workspaceId: string; id: number }): Promise<readonly number[]> {
  return db.anyFirst(sql.type(IdRow)`
    SELECT id FROM folders WHERE workspace_id = ${key.workspaceId} AND knowledge_base_id = ${key.id}`)
}

/** Issues an id and inserts a folder with that id. */
export function insertFolder(
  tx: Transaction,
  input: Pick<FolderRow, 'workspace_id' | 'knowledge_base_id' | 'parent_id' | 'name' | 'created_by'>,
): Promise<FolderRow> {
  return tx.one(sql.type(FolderRow)`
    WITH issued AS (
      INSERT INTO folder_directory (workspace_id) VALUES (${input.workspace_id}) RETURNING workspace_id, id
    )
    INSERT INTO folders AS f (workspace_id, id, knowledge_base_id, parent_id, name, created_by)
    SELECT workspace_id, id, ${input.knowledge_base_id}, ${input.parent_id}, ${input.name}, ${input.created_by}
    FROM issued
    RETURNING ${columns}`)
}

/** Sets name and location of a folder. The caller has locked the structure of the old and of the new knowledge base. */
export function updateFolderRow(
  tx: Transaction,
  folder: Pick<FolderRow, 'workspace_id' | 'id' | 'knowledge_base_id' | 'parent_id' | 'name'>,
): Promise<FolderRow> {
  return tx.one(sql.type(FolderRow)`
    UPDATE folders AS f SET name = ${folder.name}, knowledge_base_id = ${folder.knowledge_base_id},
      parent_id = ${folder.parent_id}, updated_at = clock_timestamp()
    WHERE workspace_id = ${folder.workspace_id} AND id = ${folder.id}
    RETURNING ${columns}`)
}

/** Renames a folder; returns null when the folder was deleted meanwhile. */
export function renameFolder(
  tx: Transaction,
  folder: Pick<FolderRow, 'workspace_id' | 'id' | 'name'>,
): Promise<FolderRow | null> {
  return tx.maybeOne(sql.type(FolderRow)`
    UPDATE folders AS f SET name = ${folder.name}, updated_at = clock_timestamp()
    WHERE workspace_id = ${folder.workspace_id} AND id = ${folder.id}
    RETURNING ${columns}`)
}

/** Returns the ids of a folder and of all folders below it. */
export function subtreeOf(tx: Transaction, folder: Pick<FolderRow, 'workspace_id' | 'id'>): Promise<readonly number[]> {
  return tx.anyFirst(sql.type(IdRow)`
    WITH RECURSIVE subtree AS (
      SELECT id FROM folders WHERE workspace_id = ${folder.workspace_id} AND id = ${folder.id}
      UNION ALL
      SELECT f.id FROM subtree s JOIN folders f ON f.workspace_id = ${folder.workspace_id} AND f.parent_id = s.id
    )
    SELECT id FROM subtree`)
}

/** Ids of folders of one workspace. */
export type FolderSet = { workspaceId: string; folderIds: readonly number[] }

/** Locks the documents directly in the folders in id order; returns their ids. Waits for documents that are moving. */
export function lockDocumentsInFolders(tx: Transaction, folders: FolderSet): Promise<readonly string[]> {
  return tx.anyFirst(sql.type(row(Type.Object({ id: Type.String() })))`
    SELECT id FROM documents
    WHERE workspace_id = ${folders.workspaceId} AND folder_id = ANY(${sql.array([...folders.folderIds], 'int8')})
    ORDER BY id FOR UPDATE`)
}

/**
 * Deletes a folder and, by foreign key, the folders below it. The documents in these folders must have been deleted
 * before.
 */
export async function deleteFolderRow(tx: Transaction, folder: Pick<FolderRow, 'workspace_id' | 'id'>): Promise<void> {
  await tx.query(sql.unsafe`DELETE FROM folders WHERE workspace_id = ${folder.workspace_id} AND id = ${folder.id}`)
}

/** Moves folders to another knowledge base. */
export async function changeKnowledgeBaseOfFolders(
  tx: Transaction,
  input: FolderSet & { knowledgeBaseId: number },
): Promise<void> {
  await tx.query(sql.unsafe`
    UPDATE folders SET knowledge_base_id = ${input.knowledgeBaseId}, updated_at = clock_timestamp()
    WHERE workspace_id = ${input.workspaceId} AND id = ANY(${sql.array([...input.folderIds], 'int8')})`)
}

/** Moves locked documents to the knowledge base to which their folder was moved. */
export async function changeKnowledgeBaseOfDocuments(
  tx: Transaction,
  input: { workspaceId: string; documentIds: readonly string[]; knowledgeBaseId: number; userId: string },
): Promise<void> {
  await tx.query(sql.unsafe`
    UPDATE documents SET knowledge_base_id = ${input.knowledgeBaseId}, updated_by = ${input.userId},
      updated_at = greatest(clock_timestamp(), updated_at)
    WHERE workspace_id = ${input.workspaceId} AND id = ANY(${sql.array([...input.documentIds], 'text')})`)
}
