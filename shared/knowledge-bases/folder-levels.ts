import Type, { type Static } from 'typebox'
import { type Queryable, sql } from '../database/database.ts'
import { row } from '../database/row.ts'
import { Nullable } from '../schema/identifiers.ts'

const LevelFolderShape = Type.Object({
  parent_id: Nullable(Type.Number()),
  id: Type.Number(),
  name: Type.String(),
})
const LevelFolderRow = row(LevelFolderShape)

/** A folder of a level. `parent_id` null is the root of the knowledge base. */
export type LevelFolder = Static<typeof LevelFolderShape>

/**
 * Returns the first folders of several parents of one knowledge base in their manual order, at most `limit + 1` of each
 * parent, so that the caller sees if more follow. A parent is the id of a folder, or null for the root.
 */
export function folderLevels(
  db: Queryable,
  levels: { workspaceId: string; knowledgeBaseId: number; parents: readonly (number | null)[]; limit: number },
): Promise<readonly LevelFolder[]> {
  const { workspaceId, knowledgeBaseId, parents } = levels
  const limit = levels.limit + 1
  const root = sql.fragment`f.knowledge_base_id = ${knowledgeBaseId} AND f.parent_id IS NULL`
  const folders = sql.array(
    parents.filter((parent) => parent !== null),
    'int8',
  )
  const firstOf = (isChild: ReturnType<typeof sql.fragment>) => sql.fragment`
    SELECT parent_id, id, name, order_key FROM (
      (SELECT f.parent_id, f.id, f.name, f.order_key FROM folders f
       WHERE f.workspace_id = ${workspaceId} AND ${isChild} AND f.order_key IS NOT NULL
       ORDER BY f.order_key, f.id LIMIT ${limit})
      UNION ALL
      (SELECT f.parent_id, f.id, f.name, f.order_key FROM folders f
       WHERE f.workspace_id = ${workspaceId} AND ${isChild} AND f.order_key IS NULL
       ORDER BY f.name COLLATE "C", f.id LIMIT ${limit})
    ) AS first ORDER BY order_key, CASE WHEN order_key IS NULL THEN name END COLLATE "C", id LIMIT ${limit}`
  return db.any(sql.type(LevelFolderRow)`
    SELECT parent_id, id, name FROM (
      (SELECT * FROM (${firstOf(root)}) AS top WHERE ${parents.includes(null)})
      UNION ALL
      SELECT below.* FROM unnest(${folders}) AS p (parent)
      CROSS JOIN LATERAL (${firstOf(sql.fragment`f.parent_id = p.parent`)}) AS below
    ) AS levels ORDER BY parent_id, order_key, CASE WHEN order_key IS NULL THEN name END COLLATE "C", id`)
}
