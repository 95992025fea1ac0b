import Type, { type Static } from 'typebox'
import { type Queryable, sql } from '../database/database.ts'
import { row } from '../database/row.ts'

/**
 * The freshness of the inline relations of a document `d`, for a statement that selects from `documents`: `current`,
 * `stale` or, for a document from which none were extracted yet, `missing`.
 */
export const relationsFreshness = sql.fragment`
  coalesce((
    SELECT CASE WHEN e.source_version = d.version THEN 'current' ELSE 'stale' END
    FROM relation_extractions e WHERE e.workspace_id = d.workspace_id AND e.document_id = d.id), 'missing')`

const Freshness = Type.Enum(['current', 'stale', 'missing'])
const FreshnessRow = row(Type.Object({ freshness: Freshness }))

/** Returns the freshness of the inline relations of a document that exists. */
export function freshnessOfRelations(
  db: Queryable,
  document: { workspace_id: string; id: string },
): Promise<Static<typeof Freshness>> {
  return db.oneFirst(sql.type(FreshnessRow)`
    SELECT ${relationsFreshness} AS freshness FROM documents d
    WHERE d.workspace_id = ${document.workspace_id} AND d.id = ${document.id}`)
}
