import Type, { type Static } from 'typebox'
import { prepared, type Queryable, sql, type Transaction } from '../../database/database.ts'
import { row } from '../../database/row.ts'
import type { DocumentRow } from '../../documents/queries.ts'
import { Nullable } from '../../schema/identifiers.ts'
import { liveBodiesChannel } from './notifications.ts'

/** The key of a document. */
export type DocumentKey = Pick<DocumentRow, 'workspace_id' | 'id'>

/** The schema of a column of bytes. */
export const Bytes = Type.Refine(Type.Unsafe<Uint8Array>({}), (value) => value instanceof Uint8Array)
const HeadShape = Type.Object({ body_seq: Type.Number(), n: Type.Number(), folded_n: Type.Number() })

/**
 * A position of a Y document. It has the body that the Y document follows, the newest row of its log, and the newest
 * row that is folded into its state.
 */
export type LiveHead = Static<typeof HeadShape>

/**
 * The position of the Y document of a document, without its state; null when the document was never opened live.
 * @internal
 */
export function liveHead(db: Queryable, key: DocumentKey): Promise<LiveHead | null> {
  return db.maybeOne(
    prepared(sql.type(row(HeadShape))`
    SELECT body_seq, n, folded_n FROM document_y_states
    WHERE workspace_id = ${key.workspace_id} AND document_id = ${key.id}`),
  )
}

const StoredShape = Type.Object({
  version: Type.String(),
  body_seq: Type.Number(),
  body: Type.String(),
  n: Nullable(Type.Number()),
  folded_n: Nullable(Type.Number()),
  state: Nullable(Bytes),
  updates: Type.Array(Bytes),
})

/**
 * A stored Y document with the body that it follows, and the version of the current body. `updates` is the log after
 * row `folded_n`. When the document was never opened live, `state`, `n` and `folded_n` are null, and the body is the
 * current body.
 */
export type StoredLive = Static<typeof StoredShape>

/** The columns of a document that was opened live. */
export type StoredState = { n: number; folded_n: number; state: Uint8Array }

/** The stored Y document of a document with the body that it follows, without a lock; null without a document. */
export function storedLive(db: Queryable, key: DocumentKey): Promise<StoredLive | null> {
  return db.maybeOne(
    prepared(sql.type(row(StoredShape))`
    SELECT d.version, b.body_seq, b.body, y.n, y.folded_n, y.state, ${updatesAfter(sql.fragment`y.folded_n`)} AS updates
    FROM documents d
    LEFT JOIN document_y_states y ON y.workspace_id = d.workspace_id AND y.document_id = d.id
    JOIN document_bodies b ON b.workspace_id = d.workspace_id AND b.document_id = d.id
      AND b.body_seq = coalesce(y.body_seq, d.body_seq)
    WHERE d.workspace_id = ${key.workspace_id} AND d.id = ${key.id}`),
  )
}

const LevelShape = Type.Object({ state: Bytes, updates: Type.Array(Bytes) })

/**
 * The stored state and log of a Y document that is level with the current body; null while it is behind the body, for a
 * document that was never opened live, and where both are larger than `mostBytes`.
 */
export function levelState(
  db: Queryable,
  { workspace_id, id }: DocumentKey,
  mostBytes: number,
): Promise<Static<typeof LevelShape> | null> {
  return db.maybeOne(
    prepared(sql.type(row(LevelShape))`
    SELECT y.state, ${updatesAfter(sql.fragment`y.folded_n`)} AS updates
    FROM documents d JOIN document_y_states y ON y.workspace_id = d.workspace_id AND y.document_id = d.id
    WHERE d.workspace_id = ${workspace_id} AND d.id = ${id} AND y.body_seq = d.body_seq
      AND octet_length(y.state) + (
        SELECT coalesce(sum(octet_length(u.update)), 0) FROM document_y_updates u
        WHERE u.workspace_id = y.workspace_id AND u.document_id = y.document_id AND u.n > y.folded_n
      ) <= ${mostBytes}`),
  )
}

const LogShape = Type.Object({ n: Type.Number(), state: Bytes, updates: Type.Array(Bytes) })

/**
 * The stored state of a Y document and the log that is not folded into the state yet, up to row `n`. Null when there is
 * nothing to fold.
 */
export function unfoldedLog(db: Queryable, key: DocumentKey): Promise<Static<typeof LogShape> | null> {
  return db.maybeOne(sql.type(row(LogShape))`
    SELECT y.n, y.state, ${updatesAfter(sql.fragment`y.folded_n`)} AS updates
    FROM document_y_states y
    WHERE y.workspace_id = ${key.workspace_id} AND y.document_id = ${key.id} AND y.n > y.folded_n`)
}

/** The log of the Y document `y` after a row, oldest row first, as SQL. */
export function updatesAfter(n: ReturnType<typeof sql.fragment>) {
  return sql.fragment`
    ARRAY(
      SELECT u.update FROM document_y_updates u
      WHERE u.workspace_id = y.workspace_id AND u.document_id = y.document_id AND u.n > ${n} ORDER BY u.n)`
}

/** Locks a document until the transaction ends. Does nothing when the document is gone. */
export async function lock(tx: Transaction, { workspace_id, id }: DocumentKey): Promise<void> {
  await tx.query(
    prepared(sql.unsafe`SELECT FROM documents WHERE workspace_id = ${workspace_id} AND id = ${id} FOR UPDATE`),
  )
}

/**
 * Stores the first state of a document, derived from a body that is still kept. Every later state is the earlier state
 * with the log merged into it (`foldLog`). Does nothing when a state is stored already.
 */
export async function insertState(
  tx: Transaction,
  stored: DocumentKey & { state: Uint8Array; body_seq: number },
): Promise<void> {
  const { workspace_id, id, body_seq } = stored
  await tx.query(sql.unsafe`
    INSERT INTO document_y_states (workspace_id, document_id, state, body_seq)
    SELECT workspace_id, document_id, ${sql.binary(Buffer.from(stored.state))}, body_seq FROM document_bodies
    WHERE workspace_id = ${workspace_id} AND document_id = ${id} AND body_seq = ${body_seq}
    ON CONFLICT DO NOTHING`)
}

/**
 * Appends updates to the log behind row `n`, and records that the Y document follows the body `body_seq` now. Drops the
 * `earlier` bodies, except those that are current or that a snapshot keeps. Sends the `notification` to collab
 * processes.
 */
export async function advance(
  tx: Transaction,
  input: DocumentKey & {
    n: number
    updates: readonly Uint8Array[]
    body_seq: number
    earlier: readonly number[]
    notification?: string
  },
): Promise<void> {
  const { workspace_id, id, n, updates, body_seq, earlier, notification = null } = input
  const bytes = updates.map((update) => Buffer.from(update.buffer, update.byteOffset, update.byteLength))
  await tx.query(
    prepared(sql.unsafe`
    WITH appended AS (
      INSERT INTO document_y_updates (workspace_id, document_id, n, update)
      SELECT ${workspace_id}, ${id}, ${n}::int8 + u.ordinal, u.update
      FROM unnest(${sql.array(bytes, 'bytea')}) WITH ORDINALITY AS u (update, ordinal)
    ), advanced AS (
      UPDATE document_y_states SET body_seq = ${body_seq}, n = ${n + updates.length}, updated_at = clock_timestamp()
      WHERE workspace_id = ${workspace_id} AND document_id = ${id}
    ), dropped AS (
      DELETE FROM document_bodies b
      WHERE b.workspace_id = ${workspace_id} AND b.document_id = ${id}
        AND b.body_seq = ANY(${sql.array([...earlier], 'int8')})
        AND NOT EXISTS (
          SELECT FROM documents d
          WHERE d.workspace_id = ${workspace_id} AND d.id = ${id} AND d.body_seq = b.body_seq)
        AND NOT EXISTS (
          SELECT FROM document_versions v
          WHERE v.workspace_id = ${workspace_id} AND v.document_id = ${id} AND v.body_seq = b.body_seq)
    )
    SELECT pg_notify(${liveBodiesChannel}, ${notification}::text) WHERE ${notification}::text IS NOT NULL`),
  )
}

/**
 * Replaces the state by a state that contains the log up to row `n`, and deletes the rows of the log up to there. Does
 * nothing when the stored state contains that row already.
 */
export async function foldLog(tx: Transaction, input: DocumentKey & { n: number; state: Uint8Array }): Promise<void> {
  const { workspace_id, id, n } = input
  await tx.query(sql.unsafe`
    WITH replaced AS (
      UPDATE document_y_states
      SET state = ${sql.binary(Buffer.from(input.state))}, folded_n = ${n}, updated_at = clock_timestamp()
      WHERE workspace_id = ${workspace_id} AND document_id = ${id} AND folded_n < ${n}
      RETURNING document_id
    )
    DELETE FROM document_y_updates u USING replaced
    WHERE u.workspace_id = ${workspace_id} AND u.document_id = ${id} AND u.n <= ${n}`)
}
