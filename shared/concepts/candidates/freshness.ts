import Type, { type Static } from 'typebox'
import { type Queryable, sql } from '../../database/database.ts'
import { row } from '../../database/row.ts'

const Freshness = Type.Enum(['current', 'stale', 'missing'])
const FreshnessRow = row(Type.Object({ freshness: Freshness }))

/**
 * Returns the freshness of the candidates of a document: `missing` for a document from which none were ever extracted,
 * and `stale` while its body or title is newer than the last extraction.
 */
export function freshnessOfCandidates(
  db: Queryable,
  document: { workspace_id: string; id: string },
): Promise<Static<typeof Freshness>> {
  return db.oneFirst(sql.type(FreshnessRow)`
    SELECT coalesce((
      SELECT CASE WHEN e.body_seq = d.body_seq AND NOT EXISTS (
        SELECT FROM stale_projections p
        WHERE p.workspace_id = d.workspace_id AND p.projection = 'candidates' AND p.document_id = d.id
      ) THEN 'current' ELSE 'stale' END
      FROM concept_extractions e WHERE e.workspace_id = d.workspace_id AND e.document_id = d.id), 'missing') AS freshness
    FROM documents d WHERE d.workspace_id = ${document.workspace_id} AND d.id = ${document.id}`)
}
