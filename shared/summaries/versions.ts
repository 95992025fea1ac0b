import { createHash } from 'node:crypto'
import Type, { type Static } from 'typebox'
import { type Queryable, sql } from '../database/database.ts'
import { row } from '../database/row.ts'

/*
 * The source version of a folder or knowledge base is a hash over a set of entries. The entries are (document id, body
 * version, title) of the documents and (folder id, name) of the folders below. PostgreSQL hashes each entry, takes each
 * hash as four numbers, and adds up the numbers of all entries. So the version depends on no order and no body, and the
 * sum of a tree is the sum of its branches.
 */

const EntrySumShape = Type.Object({
  documents: Type.Number(),
  entries: Type.Number(),
  parts: Type.Array(Type.Unsafe<string | number>({})),
})

/** The sum of the hashes of a set of entries, with the number of the entries and of the documents among the entries. */
export type EntrySum = Static<typeof EntrySumShape>

/** The sum of the empty set. */
export const noEntries: EntrySum = { documents: 0, entries: 0, parts: ['0', '0', '0', '0'] }

/** Returns the sum of the entries of two disjoint sets. */
export function addSums(a: EntrySum, b: EntrySum): EntrySum {
  if (b.entries === 0) return a
  return {
    documents: a.documents + b.documents,
    entries: a.entries + b.entries,
    parts: a.parts.map((part, index) => String(BigInt(part) + BigInt(b.parts[index] ?? 0))),
  }
}

/** Returns the source version of a folder or knowledge base, from the sum of the entries of everything below it. */
export function versionOf(sum: EntrySum): string {
  return `sha256:${createHash('sha256')
    .update(`${sum.entries} ${sum.parts.join(' ')}`)
    .digest('hex')}`
}

// Ids and versions contain no spaces, so different entries never join to the same text.
const documentEntry = sql.fragment`encode(sha256(convert_to('d ' || id || ' ' || version || ' ' || title, 'UTF8')), 'hex')`
const folderEntry = sql.fragment`encode(sha256(convert_to('f ' || id || ' ' || name, 'UTF8')), 'hex')`

const sums = sql.fragment`
  count(*) FILTER (WHERE is_document) AS documents, count(*) AS entries,
  ARRAY[${sql.join(
    [1, 17, 33, 49].map(
      (from) => sql.fragment`coalesce(sum(('x' || substr(hash, ${from}::int, 16))::bit(64)::bigint), 0)::text`,
    ),
    sql.fragment`, `,
  )}] AS parts`

/** Returns the sum over a folder and everything below the folder. The sum is empty when there is no such folder. */
export function folderEntries(db: Queryable, folder: { workspaceId: string; id: number }): Promise<EntrySum> {
  const { workspaceId, id } = folder
  return db.one(sql.type(row(EntrySumShape))`
    WITH RECURSIVE subtree AS (
      SELECT id, name FROM folders WHERE workspace_id = ${workspaceId} AND id = ${id}
      UNION ALL
      SELECT f.id, f.name FROM subtree s JOIN folders f ON f.workspace_id = ${workspaceId} AND f.parent_id = s.id
    ), entries AS (
      SELECT ${folderEntry} AS hash, false AS is_document FROM subtree
      UNION ALL
      SELECT ${documentEntry}, true FROM documents
      WHERE workspace_id = ${workspaceId} AND folder_id = ANY(ARRAY(SELECT id FROM subtree))
    )
    SELECT ${sums} FROM entries`)
}

/** Returns the sum of all entries of a knowledge base. */
export function knowledgeBaseEntries(db: Queryable, key: { workspaceId: string; id: number }): Promise<EntrySum> {
  return db.one(sql.type(row(EntrySumShape))`
    SELECT ${sums} FROM (${entriesOf(key)}) AS entries`)
}

const PlacedSumRow = row(
  Type.Object({ ...EntrySumShape.properties, folder_id: Type.Union([Type.Number(), Type.Null()]) }),
)

/**
 * Returns a sum for each folder of a knowledge base: over the folder itself and the documents directly in the folder.
 * `folder_id` null is the root.
 */
export function entriesByFolder(db: Queryable, key: { workspaceId: string; id: number }) {
  return db.any(sql.type(PlacedSumRow)`
    SELECT folder_id, ${sums} FROM (${entriesOf(key)}) AS entries GROUP BY folder_id`)
}

function entriesOf(key: { workspaceId: string; id: number }) {
  return sql.fragment`
    SELECT ${folderEntry} AS hash, false AS is_document, id AS folder_id FROM folders
    WHERE workspace_id = ${key.workspaceId} AND knowledge_base_id = ${key.id}
    UNION ALL
    SELECT ${documentEntry}, true, folder_id FROM documents
    WHERE workspace_id = ${key.workspaceId} AND knowledge_base_id = ${key.id}`
}
