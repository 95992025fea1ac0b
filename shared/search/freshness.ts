import { sql } from '../database/database.ts'
import { isFresh } from './statement/conditions.ts'
import { tokeniserEpoch } from './text/tokenise.ts'

/**
 * The freshness of the search index of a document `d`, for a statement that selects from `documents`: `current`,
 * `stale` or, for a document that was never indexed, `missing`.
 */
export const searchFreshness = sql.fragment`
  coalesce((
    SELECT CASE WHEN s.epoch = ${tokeniserEpoch} AND ${isFresh} THEN 'current' ELSE 'stale' END
    FROM search_documents s WHERE s.workspace_id = d.workspace_id AND s.document_id = d.id), 'missing')`
