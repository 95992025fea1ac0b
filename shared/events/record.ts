import Type from 'typebox'
import { prepared, sql, type Transaction } from '../database/database.ts'
import { row } from '../database/row.ts'

/** The names of events that a write can record: api/guide/events.md#log. */
export type EventName =
  | 'document.created'
  | 'document.metadata.updated'
  | 'document.content.updated'
  | 'document.deleted'

/** The document in its event: the state after the change, or the last state before a deletion. */
export type EventDocument = {
  id: string
  title: string
  document_type: string
  knowledge_base_id: number
  folder_id: number | null
  document_set_id: string | null
  locale: string | null
  variant_role: string | null
  version: string
  updated_at: number
}

/** The channel on which a write wakes the sequencer, which numbers the events of the write. */
export const unnumberedChannel = 'svc_events_unnumbered'

/** The number for the row of one event, as SQL. A write draws the number under the lock of its document. */
export const nextEventRowNo = sql.fragment`nextval('events_row_no_seq')`

/**
 * Records the event of one document in the transaction of the write. `rowNo` was drawn as `nextEventRowNo`, so that
 * nobody has to wait for an answer.
 */
export async function recordEvent(
  tx: Transaction,
  input: { workspaceId: string; name: EventName; document: EventDocument; rowNo: number },
): Promise<void> {
  const { workspaceId, name, document, rowNo } = input
  const { id, document_set_id: setId, locale } = document
  await tx.query(
    prepared(sql.unsafe`
    WITH recorded AS (
      INSERT INTO events (workspace_id, row_no, name, document_id, document_set_id, locale, document)
      OVERRIDING SYSTEM VALUE
      VALUES (${workspaceId}, ${rowNo}, ${name}, ${id}, ${setId}, ${locale}, ${JSON.stringify(document)}::jsonb)
    )
    SELECT pg_notify(${unnumberedChannel}, '')`),
  )
}

const RowNo = row(Type.Object({ row_no: Type.Number() }))

/**
 * Records one event for each document in the transaction of the write, and returns the row numbers of the events in the
 * same order. The sequencer gives the events their public ids after the commit.
 */
export async function recordEvents(
  tx: Transaction,
  input: { workspaceId: string; name: EventName; documents: readonly EventDocument[] },
): Promise<number[]> {
  if (input.documents.length === 0) return []
  const documents = JSON.stringify(input.documents)
  const rows = await tx.any(
    prepared(sql.type(RowNo)`
    WITH recorded AS (
      INSERT INTO events (workspace_id, name, document_id, document_set_id, locale, document)
      SELECT ${input.workspaceId}, ${input.name}, d.document ->> 'id', d.document ->> 'document_set_id',
        d.document ->> 'locale', d.document
      FROM jsonb_array_elements(${documents}::jsonb) WITH ORDINALITY AS d (document, position)
      ORDER BY d.position
      RETURNING row_no
    )
    SELECT row_no, pg_notify(${unnumberedChannel}, '') FROM recorded ORDER BY row_no`),
  )
  return rows.map(({ row_no }) => row_no)
}
