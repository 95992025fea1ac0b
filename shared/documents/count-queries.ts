import Type from 'typebox'
import { type Queryable, sql } from '../database.ts'
import { row } from '../row.ts'

const Brought = row(Type.Object({ rows: Type.Integer() }))

/**
 * Brings the rows of `document_counts` together in workspaces where they have become many, a number of workspaces at a
 * time; returns how many rows went. The sums stay the same in every snapshot. Several may do it at once: each row is
 * deleted, and so added up, by one of them.
 */
export function gatherDocumentCounts(
  db: Queryable,
  { many, workspaces }: { many: number; workspaces: number },
): Promise<number> {
  return db.oneFirst(sql.type(Brought)`
    WITH scattered AS (
      SELECT workspace_id FROM document_counts GROUP BY workspace_id
      HAVING count(*) > ${many} AND count(*) > 2 * count(DISTINCT (knowledge_base_id, locale, variant_role))
      LIMIT ${workspaces}
    ), gone AS (
      DELETE FROM document_counts c USING scattered s WHERE c.workspace_id = s.workspace_id
      RETURNING c.workspace_id, c.knowledge_base_id, c.locale, c.variant_role, c.count
    ), brought AS (
      INSERT INTO document_counts (workspace_id, knowledge_base_id, locale, variant_role, count)
      SELECT workspace_id, knowledge_base_id, locale, variant_role, sum(count) FROM gone
      GROUP BY 1, 2, 3, 4 HAVING sum(count) <> 0
      RETURNING n
    )
    SELECT (SELECT count(*) FROM gone) - (SELECT count(*) FROM brought) AS rows`)
}
