import { sql } from '../database/database.ts'

/**
 * The freshness of the stored summary of a document `d`, for a statement that selects from `documents`: `current`,
 * `stale` or, where no summary is stored, `missing`. Summaries of sections do not count.
 */
export const summaryFreshness = sql.fragment`
  coalesce((
    SELECT CASE WHEN m.source_version = d.version THEN 'current' ELSE 'stale' END
    FROM summaries m
    WHERE m.workspace_id = d.workspace_id AND m.target_type = 'document' AND m.target_id = d.id AND m.block_id = ''),
    'missing')`
