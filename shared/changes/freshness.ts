import { sql } from '../database/database.ts'

/**
 * The freshness of the chain of changes of a document `d`, for a statement that selects from `documents`: `current`,
 * `stale` or, for a document without a chain, `missing`.
 */
export const changesFreshness = sql.fragment`
  coalesce((
    SELECT CASE WHEN c.projected_seq >= d.body_seq THEN 'current' ELSE 'stale' END
    FROM change_chains c WHERE c.workspace_id = d.workspace_id AND c.document_id = d.id), 'missing')`
