import Type, { type Static } from 'typebox'
import { prepared, type Queryable, sql } from '../database/database.ts'
import { row } from '../database/row.ts'
import { inWorkspaces, mergedPage } from '../database/workspaces.ts'
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

/**
 * Selects the events of a reader: events of the workspaces that also belong to the document set and the locale, if
 * these are given.
 */
export type EventFilter = {
  workspaceIds: readonly string[]
  documentSetId: string | undefined
  /** A canonical BCP 47 tag. */
  locale: string | undefined
}

const columns = sql.fragment`
  event_id, row_no, name, workspace_id, document_id, document_set_id, locale, created_at, document`

/** At most `limit` events of all workspaces after an id, in the order of their ids. */
export function numberedEvents(db: Queryable, page: { after: number; limit: number }): Promise<readonly LoggedEvent[]> {
  return db.any(
    prepared(sql.type(row(EventShape))`
    SELECT ${columns} FROM events WHERE event_id > ${page.after} ORDER BY event_id LIMIT ${page.limit}`),
  )
}

/** At most `limit` events that pass the filter, after one id and up to another, in the order of their ids. */
export function filteredEvents(
  db: Queryable,
  page: { filter: EventFilter; after: number; upTo: number; limit: number },
): Promise<readonly LoggedEvent[]> {
  const { workspaceIds, documentSetId = null, locale = null } = page.filter
  const pageOf = (workspaceId: ReturnType<typeof sql.fragment>) => sql.fragment`
    SELECT ${columns} FROM events
    WHERE workspace_id = ${workspaceId} AND event_id > ${page.after} AND event_id <= ${page.upTo}
      AND (${documentSetId}::text IS NULL OR document_set_id = ${documentSetId})
      AND (${locale}::text IS NULL OR locale = ${locale})
    ORDER BY event_id LIMIT ${page.limit}`
  const order = sql.fragment`page.event_id`
  return db.any(prepared(sql.type(row(EventShape))`${mergedPage({ workspaceIds, pageOf, order, limit: page.limit })}`))
}

/**
 * A fragment that selects the newest id ever given to an event, 0 before the first event. A statement that needs the id
 * in its own snapshot embeds the fragment. The id never decreases, whatever is purged.
 */
export const newestEventId = sql.fragment`
  greatest((SELECT max(event_id) FROM events), (SELECT event_id FROM event_floor))`

const ExtentShape = Type.Object({
  floor: Type.Number(),
  oldest: Nullable(Type.Number()),
  newest: Type.Number(),
})

/**
 * The readable part of the log: `floor` is the highest purged id, `newest` the highest id ever given. `oldest` is the
 * lowest retained id, or null when no event is retained.
 */
export type LogExtent = Static<typeof ExtentShape>

/** The extent of the log, read in one snapshot. */
export function logExtent(db: Queryable): Promise<LogExtent> {
  return db.one(
    prepared(sql.type(row(ExtentShape))`
    SELECT f.event_id AS floor, (SELECT min(e.event_id) FROM events e WHERE e.event_id > f.event_id) AS oldest,
      ${newestEventId} AS newest
    FROM event_floor f`),
  )
}

/**
 * The row numbers of the latest `limit` events of the workspaces that are committed and have no id yet. A stream that
 * opens now leaves these events out: they happened before it opened, although they get their ids afterwards.
 */
export function unnumberedRows(
  db: Queryable,
  input: { workspaceIds: readonly string[]; limit: number },
): Promise<readonly number[]> {
  return db.anyFirst(
    prepared(sql.type(row(Type.Object({ row_no: Type.Number() })))`
    SELECT row_no FROM events
    WHERE event_id IS NULL AND ${inWorkspaces(sql.fragment`workspace_id`, input.workspaceIds)}
    ORDER BY row_no DESC LIMIT ${input.limit}`),
  )
}
