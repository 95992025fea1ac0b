import { sql } from '../database/database.ts'

/**
 * The freshness of the inline relations of a document `d`, for a statement that selects from `documents`: `current`,
 * `stale` or, for a document from which none were extracted yet, `missing`.
 */
export const relationsFreshness = sql.fragment`
  coalesce((
    SELECT CASE WHEN e.source_version = d.version THEN 'current' ELSE 'stale' END
    FROM relation_extractions e WHERE e.workspace_id = d.workspace_id AND e.document_id = d.id), 'missing')`
