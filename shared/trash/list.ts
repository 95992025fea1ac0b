import { type Queryable, sql } from '../database/database.ts'
import { mergedPage } from '../database/workspaces.ts'
import { entryColumns, isKept, TrashEntryRow, type TrashRetention } from './entries.ts'
import type { TrashEntry } from './schema.ts'

type Fragment = ReturnType<typeof sql.fragment>

// How many entries are looked through in the order of the list before the index of names is asked.
const lookedThrough = 500
// If the index of names finds at most so many entries, these are sorted. If it finds more, matches are so frequent that
// reading the list in its order soon finds them.
const sortedNames = 1000

/** The filters of a list of entries; `after` is the id of the last entry seen. */
export type TrashFilter = {
  workspaceIds: readonly string[]
  retention: TrashRetention
  knowledgeBaseId?: number | undefined
  nameContains?: string | undefined
  after: string | null
  limit: number
}

/** An entry in the shape of the API. */
export function presentEntry(row: TrashEntryRow): TrashEntry {
  const { id, type, name, path_text, document_count, deleted_at, deleted_by, expires_at } = row
  return { id, type, name, path_text, document_count, deleted_at, deleted_by, expires_at }
}

/**
 * Returns up to `limit + 1` visible entries after a position, the newest first, so that the caller sees if more follow.
 * `knowledgeBaseId` names the knowledge base of the place before the deletion, or the deleted knowledge base itself.
 */
export function trashPage(db: Queryable, filter: TrashFilter): Promise<readonly TrashEntryRow[]> {
  const { workspaceIds, nameContains, limit } = filter
  const pageOf = (workspaceId: Fragment) =>
    nameContains === undefined
      ? newest(filter, sql.fragment`trash_entries e WHERE ${conditions(filter, workspaceId)}`)
      : named({ ...filter, nameContains }, workspaceId)
  const order = sql.fragment`page.id DESC`
  return db.any(sql.type(TrashEntryRow)`${mergedPage({ workspaceIds, pageOf, order, limit: limit + 1 })}`)
}

// A page of entries whose name contains a text. The beginning of the list often holds the page. Otherwise the index of
// names finds the entries that may match, if they are few. If they are many, the list is read in its order. The words
// come from a subselect, so that the planner does not see them. For frequent words it would read the table instead of
// its index.
function named(filter: TrashFilter & { nameContains: string }, workspaceId: Fragment) {
  const { knowledgeBaseId = null, nameContains, limit } = filter
  const isMatch = sql.fragment`strpos(lower(e.name), lower(${nameContains})) > 0`
  const isEnough = sql.fragment`(SELECT enough FROM looked)`
  const areFew = sql.fragment`(SELECT count(*) FROM named) <= ${sortedNames}`
  const entries = sql.fragment`trash_entries e WHERE ${conditions(filter, workspaceId)}`
  return sql.fragment`
    WITH beginning AS MATERIALIZED (
      ${newest({ ...filter, limit: lookedThrough - 1 }, entries)}
    ), looked AS MATERIALIZED (
      SELECT count(*) < ${lookedThrough} OR count(*) FILTER (WHERE ${isMatch}) > ${limit} AS enough FROM beginning e
    ), named AS MATERIALIZED (
      SELECT n.id FROM trash_entries n
      WHERE NOT ${isEnough} AND title_words(n.workspace_id, n.knowledge_base_id, NULL, n.name) @@ (
        SELECT title_words_of_part(${workspaceId}::text, ${knowledgeBaseId}::int8, NULL, ${nameContains}))
      LIMIT ${sortedNames + 1}
    )
    SELECT e.* FROM (
      SELECT e.* FROM beginning e WHERE ${isEnough} AND ${isMatch}
      UNION ALL
      (${newest(
        filter,
        sql.fragment`named n
          CROSS JOIN LATERAL (
            SELECT * FROM trash_entries e WHERE e.workspace_id = ${workspaceId} AND e.id = n.id LIMIT 1
          ) AS e
          WHERE NOT ${isEnough} AND ${areFew} AND ${conditions(filter, workspaceId)} AND ${isMatch}`,
      )})
      UNION ALL
      (${newest(filter, sql.fragment`${entries} AND NOT ${isEnough} AND NOT ${areFew} AND ${isMatch}`)})
    ) AS e ORDER BY e.id DESC LIMIT ${limit + 1}`
}

function newest(filter: TrashFilter, entries: Fragment) {
  return sql.fragment`SELECT ${entryColumns(filter.retention)} FROM ${entries} ORDER BY e.id DESC LIMIT ${filter.limit + 1}`
}

function conditions({ retention, knowledgeBaseId, after }: TrashFilter, workspaceId: Fragment) {
  return sql.join(
    [
      sql.fragment`e.workspace_id = ${workspaceId} AND ${isKept(retention)}`,
      ...(knowledgeBaseId === undefined ? [] : [sql.fragment`e.knowledge_base_id = ${knowledgeBaseId}`]),
      ...(after === null ? [] : [sql.fragment`e.id < ${after}`]),
    ],
    sql.fragment` AND `,
  )
}
