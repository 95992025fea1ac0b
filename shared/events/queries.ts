import Type, { type Static } from 'typebox'
import { prepared, type Queryable, sql } from '../database/database.ts'
import { row } from '../database/row.ts'
import { Nullable } from '../schema/identifiers.ts'
import type { EventDocument, EventName } from './record.ts'

const EventShape = Type.Object({
  event_id: Type.Number(),
  row_no: Type.Number(),
  name: Type.Unsafe<EventName>(Type.String()),
  workspace_id: Type.String(),
  document_id: Type.String(),
  document_set_id: Nullable(Type.String()),
  locale: Nullable(Type.String()),
  created_at: Type.Number(),
  document: Type.Unsafe<EventDocument>({}),
})

/** A numbered event of the log; `created_at` in Unix milliseconds. */
export type LoggedEvent = Static<typeof EventShape>

/** Whose events a reader gets: those of the workspaces that also pass both filters. */
export type EventFilter = {
  workspaceIds: readonly string[]
  documentSetId: string | undefined
  /** Canonical. */
  locale: string | undefined
}

const columns = sql.fragment`
  event_id, row_no, name, workspace_id, document_id, document_set_id, locale, created_at, document`

/** Events of all workspaces after an id, in the order of their ids. */
export function numberedEvents(db: Queryable, page: { after: number; limit: number }): Promise<readonly LoggedEvent[]> {
  return db.any(
    prepared(sql.type(row(EventShape))`
    SELECT ${columns} FROM events WHERE event_id > ${page.after} ORDER BY event_id LIMIT ${page.limit}`),
  )
}

/** Events that pass the filter, after one id and up to another, in the order of their ids. */
export function filteredEvents(
  db: Queryable,
  page: { filter: EventFilter; after: number; upTo: number; limit: number },
): Promise<readonly LoggedEvent[]> {
  const { workspaceIds, documentSetId = null, locale = null } = page.filter
  return db.any(
    prepared(sql.type(row(EventShape))`
    SELECT ${columns} FROM events
    WHERE workspace_id = ANY(${sql.array([...workspaceIds], 'text')})
      AND event_id > ${page.after} AND event_id <= ${page.upTo}
      AND (${documentSetId}::text IS NULL OR document_set_id = ${documentSetId})
      AND (${locale}::text IS NULL OR locale = ${locale})
    ORDER BY event_id LIMIT ${page.limit}`),
  )
}

/**
 * The newest id ever given to an event, 0 before the first; a fragment for statements that need it in their own
 * snapshot. It never goes back, whatever is purged.
 */
export const newestEventId = sql.fragment`
  greatest((SELECT max(event_id) FROM events), (SELECT event_id FROM event_floor))`

const ExtentShape = Type.Object({
  floor: Type.Number(),
  oldest: Nullable(Type.Number()),
  newest: Type.Number(),
})

/** What of the log can be read: `floor` is the highest purged id, `oldest` the lowest retained one. */
export type LogExtent = Static<typeof ExtentShape>

/** The extent of the log, of one snapshot. */
export function logExtent(db: Queryable): Promise<LogExtent> {
  return db.one(
    prepared(sql.type(row(ExtentShape))`
    SELECT f.event_id AS floor, (SELECT min(e.event_id) FROM events e WHERE e.event_id > f.event_id) AS oldest,
      ${newestEventId} AS newest
    FROM event_floor f`),
  )
}

/**
 * The row numbers of what is committed in the workspaces and has no id yet, the latest `limit` of them: a stream that
 * opens now has missed these although their ids are still to come.
 */
export function unnumberedRows(
  db: Queryable,
  input: { workspaceIds: readonly string[]; limit: number },
): Promise<readonly number[]> {
  return db.anyFirst(
    prepared(sql.type(row(Type.Object({ row_no: Type.Number() })))`
    SELECT row_no FROM events
    WHERE event_id IS NULL AND workspace_id = ANY(${sql.array([...input.workspaceIds], 'text')})
    ORDER BY row_no DESC LIMIT ${input.limit}`),
  )
}
