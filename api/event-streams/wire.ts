import type { LogExtent, LoggedEvent } from '../../shared/events/queries.ts'
import type { EventName } from '../../shared/events/record.ts'

/** The beginning of every stream: how many milliseconds to wait before a reconnect, and that the stream is open. */
export const opening = 'retry: 5000\n: connected\n\n'

/** The comment that keeps proxies from closing a quiet stream. */
export const heartbeat = ': hb\n\n'

/** An event rendered once as SSE text, with its name and the fields that select the streams it goes to. */
export type WireEvent = {
  id: number
  rowNo: number
  name: EventName
  workspaceId: string
  documentId: string
  documentSetId: string | null
  locale: string | null
  text: Buffer
}

/** Renders an event once for all streams. */
export function wireEvent(event: LoggedEvent): WireEvent {
  const { id, title, document_type, knowledge_base_id, folder_id, ...rest } = event.document
  const { document_set_id, locale, variant_role, version, updated_at } = rest
  const data = {
    event_id: event.event_id,
    workspace_id: event.workspace_id,
    document_id: event.document_id,
    created_at: event.created_at,
    document: {
      id,
      title,
      document_type,
      knowledge_base_id,
      folder_id,
      document_set_id,
      locale,
      variant_role,
      version,
      updated_at,
    },
  }
  return {
    id: event.event_id,
    rowNo: event.row_no,
    name: event.name,
    workspaceId: event.workspace_id,
    documentId: event.document_id,
    documentSetId: event.document_set_id,
    locale: event.locale,
    text: Buffer.from(frame({ id: event.event_id, name: event.name, data })),
  }
}

/**
 * The event that tells a client that its cursor cannot be resumed. The event names the id after which the stream goes
 * on instead.
 */
export function syncRequired(resumeFrom: number): string {
  const members = { workspace_id: null, document_id: null, created_at: Date.now(), resume_from: resumeFrom }
  return frame({ id: resumeFrom, name: 'sync.required', data: { event_id: resumeFrom, ...members } })
}

/** The last event of a stream whose token was revoked or has expired. */
export function authRevoked(reason: 'revoked' | 'expired'): string {
  return frame({ name: 'auth.revoked', data: { reason, created_at: Date.now() } })
}

/**
 * The event id after which a stream resumes. `cursor` is the last id that the client has processed, and the stream
 * resumes after this id if it can. When events after the cursor were purged, the stream goes on with the oldest event
 * that is left. A cursor above all ids is not from this log, so the stream goes on after the newest event. In both
 * exceptions `syncRequired` is true, because the client has to be told.
 */
export function resumption(cursor: number, log: LogExtent): { position: number; syncRequired: boolean } {
  if (cursor > log.newest) return { position: log.newest, syncRequired: true }
  if (cursor >= log.floor) return { position: cursor, syncRequired: false }
  return { position: log.oldest === null ? log.newest : log.oldest - 1, syncRequired: true }
}

// JSON text has no line breaks, so the data are one line.
function frame(event: { id?: number; name: string; data: object }): string {
  const id = event.id === undefined ? '' : `id: ${event.id}\n`
  return `${id}event: ${event.name}\ndata: ${JSON.stringify(event.data)}\n\n`
}
