import Type, { type Static } from 'typebox'
import { prepared, type Queryable, sql, type Transaction } from '../../database/database.ts'
import { row } from '../../database/row.ts'
import type { DocumentRow } from '../../documents/queries.ts'
import type { BodyWrite, CommitContext } from '../consequence.ts'

/** The key of a document. */
export type DocumentKey = Pick<DocumentRow, 'workspace_id' | 'id'>

/**
 * The channel of NOTIFY on which a write tells live processes that a body has changed. The payload is `<document id>
 * <body_seq>`. @internal
 */
export const liveBodiesChannel = 'svc_live_bodies'

const Bytes = Type.Refine(Type.Unsafe<Uint8Array>({}), (value) => value instanceof Uint8Array)
const HeadShape = Type.Object({ body_seq: Type.Number(), n: Type.Number(), folded_n: Type.Number() })
const StateShape = Type.Object({ ...HeadShape.properties, state: Bytes })
const UpdateShape = Type.Object({ n: Type.Number(), update: Bytes })

/**
 * A position of a Y document. It has the body that the Y document follows, the newest row of its log, and the newest
 * row that is folded into its state.
 */
export type LiveHead = Static<typeof HeadShape>

/** A row of `document_y_states`. */
export type LiveState = Static<typeof StateShape>

/** A row of the log of Yjs updates, `document_y_updates`. */
export type LoggedUpdate = Static<typeof UpdateShape>

/** The position of the Y document of a document, without its state; null when the document was never opened live. */
export function liveHead(db: Queryable, key: DocumentKey): Promise<LiveHead | null> {
  return db.maybeOne(sql.type(row(HeadShape))`
    SELECT body_seq, n, folded_n FROM document_y_states
    WHERE workspace_id = ${key.workspace_id} AND document_id = ${key.id}`)
}

/** The stored Y state of a document; null when the document was never opened live. */
export function liveState(db: Queryable, key: DocumentKey): Promise<LiveState | null> {
  return db.maybeOne(sql.type(row(StateShape))`
    SELECT body_seq, n, folded_n, state FROM document_y_states
    WHERE workspace_id = ${key.workspace_id} AND document_id = ${key.id}`)
}

/** The log after row `n`, oldest first. */
export function updatesAfter(db: Queryable, key: DocumentKey & { n: number }): Promise<readonly LoggedUpdate[]> {
  return db.any(sql.type(row(UpdateShape))`
    SELECT n, update FROM document_y_updates
    WHERE workspace_id = ${key.workspace_id} AND document_id = ${key.id} AND n > ${key.n} ORDER BY n`)
}

/**
 * Stores the first state of a document. Every later state is the earlier state with the log merged into it (`foldLog`).
 */
export async function insertState(
  tx: Transaction,
  stored: DocumentKey & { state: Uint8Array; body_seq: number },
): Promise<void> {
  await tx.query(sql.unsafe`
    INSERT INTO document_y_states (workspace_id, document_id, state, body_seq)
    VALUES (${stored.workspace_id}, ${stored.id}, ${sql.binary(Buffer.from(stored.state))}, ${stored.body_seq})`)
}

/** Appends updates to the log behind row `n`, and records which body the Y document follows now. */
export async function advance(
  tx: Transaction,
  input: DocumentKey & { n: number; updates: readonly Uint8Array[]; body_seq: number },
): Promise<void> {
  const { workspace_id, id, n, updates } = input
  const bytes = updates.map((update) => Buffer.from(update))
  await tx.query(sql.unsafe`
    WITH appended AS (
      INSERT INTO document_y_updates (workspace_id, document_id, n, update)
      SELECT ${workspace_id}, ${id}, ${n} + u.ordinal, u.update
      FROM unnest(${sql.array(bytes, 'bytea')}) WITH ORDINALITY AS u (update, ordinal)
    )
    UPDATE document_y_states SET body_seq = ${input.body_seq}, n = ${n + updates.length}, updated_at = clock_timestamp()
    WHERE workspace_id = ${workspace_id} AND document_id = ${id}`)
}

/** Replaces the state by a state that contains the log up to row `n`, and deletes the rows of the log up to there. */
export async function foldLog(tx: Transaction, input: DocumentKey & { n: number; state: Uint8Array }): Promise<void> {
  const { workspace_id, id, n } = input
  await tx.query(sql.unsafe`
    WITH folded AS (
      DELETE FROM document_y_updates WHERE workspace_id = ${workspace_id} AND document_id = ${id} AND n <= ${n}
    )
    UPDATE document_y_states
    SET state = ${sql.binary(Buffer.from(input.state))}, folded_n = ${n}, updated_at = clock_timestamp()
    WHERE workspace_id = ${workspace_id} AND document_id = ${id}`)
}

/**
 * Tells live processes that a document they may hold open has changed. Nothing is sent for a document that was never
 * opened live, because commits that notify wait for each other in the whole database server.
 */
export function notifyLive(tx: Transaction, document: DocumentKey & { body_seq: number }): void {
  tx.send(
    prepared(sql.unsafe`
    SELECT pg_notify(${liveBodiesChannel}, ${`${document.id} ${document.body_seq}`}) FROM document_y_states
    WHERE workspace_id = ${document.workspace_id} AND document_id = ${document.id}`),
  )
}

/**
 * A consequence of body writes: tells live processes of the changed body, unless the document was never opened live.
 */
export function notifyLiveEditors({ tx }: CommitContext, { document, isLive }: BodyWrite): void {
  if (isLive) notifyLive(tx, document)
}
