import Type, { type Static } from 'typebox'
import { type Queryable, sql, type Transaction } from '../database/database.ts'
import { row } from '../database/row.ts'
import type { SummaryTarget } from './target.ts'

/** A folder or knowledge base, which has documents and folders below it. */
export type Container = Extract<SummaryTarget, { type: 'folder' | 'knowledge_base' }>

const NameRow = row(Type.Object({ name: Type.String() }))

/** Returns the name of a folder or knowledge base, or null when it is gone. */
export function containerName(db: Queryable, { type, workspaceId, id }: Container): Promise<string | null> {
  const table = sql.identifier([type === 'folder' ? 'folders' : 'knowledge_bases'])
  return db.maybeOneFirst(
    sql.type(NameRow)`SELECT name FROM ${table} WHERE workspace_id = ${workspaceId} AND id = ${id}`,
  )
}

/** Prevents the deletion of a folder or knowledge base until the transaction ends. No other write waits. */
export async function lockContainer(tx: Transaction, { type, workspaceId, id }: Container): Promise<void> {
  const table = sql.identifier([type === 'folder' ? 'folders' : 'knowledge_bases'])
  await tx.query(sql.unsafe`SELECT FROM ${table} WHERE workspace_id = ${workspaceId} AND id = ${id} FOR KEY SHARE`)
}

const ChildShape = Type.Object({
  rank: Type.Number(),
  label: Type.String(),
  folder_id: Type.Number(),
  document_id: Type.String(),
})

const ChildRow = row(ChildShape)

/** A direct child of a container; `rank` 0 is a folder, 1 a document. */
export type ChildRow = Static<typeof ChildShape>

/** Returns the first direct children in the order of the tree, which `document_titles` has as an index. */
export function firstChildren(
  db: Queryable,
  { container, limit }: { container: Container; limit: number },
): Promise<readonly ChildRow[]> {
  const { workspaceId, id } = container
  const [folders, documents] =
    container.type === 'folder'
      ? [sql.fragment`parent_id = ${id}`, sql.fragment`folder_id = ${id}`]
      : [
          sql.fragment`knowledge_base_id = ${id} AND parent_id IS NULL`,
          sql.fragment`knowledge_base_id = ${id} AND folder_id IS NULL`,
        ]
  return db.any(sql.type(ChildRow)`
    (SELECT 0 AS rank, name COLLATE "C" AS label, id AS folder_id, '' COLLATE "C" AS document_id
     FROM folders WHERE workspace_id = ${workspaceId} AND ${folders} ORDER BY name COLLATE "C", id LIMIT ${limit})
    UNION ALL
    (SELECT 1, title COLLATE "C", 0, document_id
     FROM document_titles WHERE workspace_id = ${workspaceId} AND ${documents}
     ORDER BY title COLLATE "C", document_id LIMIT ${limit})
    ORDER BY rank, label, folder_id, document_id LIMIT ${limit}`)
}

const TitlesRow = row(Type.Object({ folder_id: Type.Number(), titles: Type.Array(Type.String()) }))

/** Returns the names and titles of the first children of each folder, in the order of the tree. */
export function firstTitles(
  db: Queryable,
  input: { workspaceId: string; folderIds: readonly number[]; limit: number },
) {
  return db.any(sql.type(TitlesRow)`
    SELECT p.id AS folder_id, ARRAY(
      SELECT label FROM (
        (SELECT 0 AS rank, name COLLATE "C" AS label FROM folders
         WHERE workspace_id = ${input.workspaceId} AND parent_id = p.id ORDER BY name COLLATE "C" LIMIT ${input.limit})
        UNION ALL
        (SELECT 1, title COLLATE "C" FROM document_titles
         WHERE workspace_id = ${input.workspaceId} AND folder_id = p.id
         ORDER BY title COLLATE "C", document_id LIMIT ${input.limit})
      ) AS children ORDER BY rank, label LIMIT ${input.limit}
    ) AS titles
    FROM unnest(${sql.array([...input.folderIds], 'int8')}) AS p (id)`)
}

const IdRow = row(Type.Object({ id: Type.String() }))

const documentsBelow = (container: Container) =>
  container.type === 'knowledge_base'
    ? sql.fragment`knowledge_base_id = ${container.id}`
    : sql.fragment`folder_id = ANY(ARRAY(
        WITH RECURSIVE subtree AS (
          SELECT id FROM folders WHERE workspace_id = ${container.workspaceId} AND id = ${container.id}
          UNION ALL
          SELECT f.id FROM subtree s
          JOIN folders f ON f.workspace_id = ${container.workspaceId} AND f.parent_id = s.id
        )
        SELECT id FROM subtree))`

/** Returns the ids of the first documents below a container, ordered by id. */
export function documentIdsBelow(
  db: Queryable,
  { container, limit }: { container: Container; limit: number },
): Promise<readonly string[]> {
  return db.anyFirst(sql.type(IdRow)`
    SELECT id FROM documents WHERE workspace_id = ${container.workspaceId} AND ${documentsBelow(container)}
    ORDER BY id LIMIT ${limit}`)
}

const IdsRow = row(Type.Object({ ids: Type.String() }))

/**
 * Returns the ids of the first documents below a container, by id, in the order of their titles. PostgreSQL sorts and
 * writes them as one JSON text, so thousands of ids cost the event loop next to nothing.
 */
export async function documentIdsByTitle(
  db: Queryable,
  { container, limit }: { container: Container; limit: number },
): Promise<string[]> {
  const ids = await db.oneFirst(sql.type(IdsRow)`
    SELECT coalesce(json_agg(id ORDER BY title COLLATE "C", id), '[]')::text AS ids FROM (
      SELECT id, title FROM documents WHERE workspace_id = ${container.workspaceId} AND ${documentsBelow(container)}
      ORDER BY id LIMIT ${limit}
    ) AS chosen`)
  return JSON.parse(ids) as string[]
}

/** Returns which of some documents are below a container. */
export function documentsAmong(
  db: Queryable,
  { container, ids }: { container: Container; ids: readonly string[] },
): Promise<readonly string[]> {
  return db.anyFirst(sql.type(IdRow)`
    SELECT id FROM documents
    WHERE workspace_id = ${container.workspaceId} AND id = ANY(${sql.array([...ids], 'text')})
      AND ${documentsBelow(container)}`)
}

/** Returns the id of the knowledge base of a folder; for a knowledge base, its own id. */
export async function knowledgeBaseOf(db: Queryable, { type, workspaceId, id }: Container): Promise<number> {
  if (type === 'knowledge_base') return id
  return db.oneFirst(sql.type(row(Type.Object({ id: Type.Number() })))`
    SELECT knowledge_base_id AS id FROM folders WHERE workspace_id = ${workspaceId} AND id = ${id}`)
}

const SizeRow = row(Type.Object({ documents: Type.Number(), characters: Type.Number() }))

/** Returns the number of documents and of their characters below a container. */
export function sizeBelow(db: Queryable, container: Container) {
  return db.one(sql.type(SizeRow)`
    SELECT count(*) AS documents, coalesce(sum(character_count), 0)::bigint AS characters FROM documents
    WHERE workspace_id = ${container.workspaceId} AND ${documentsBelow(container)}`)
}

/** Locks the documents below a container FOR SHARE, in id order, unless there are more than `limit`. */
export async function lockDocumentsBelow(
  db: Queryable,
  { container, limit }: { container: Container; limit: number },
): Promise<void> {
  const ids = await documentIdsBelow(db, { container, limit: limit + 1 })
  if (ids.length > limit) return
  await db.query(sql.unsafe`
    SELECT FROM documents WHERE workspace_id = ${container.workspaceId} AND id = ANY(${sql.array([...ids], 'text')})
    ORDER BY id FOR SHARE`)
}
