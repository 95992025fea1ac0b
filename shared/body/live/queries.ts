import Type, { type Static } from 'typebox'
import { prepared, type Queryable, sql, type Transaction } from '../../database/database.ts'
import { row } from '../../database/row.ts'
import type { DocumentRow } from '../../documents/queries.ts'
import { isSourceOfOpenJob } from '../../jobs/requested/obsolete.ts'
import { Nullable } from '../../schema/identifiers.ts'
import type { BodyWrite, CommitContext } from '../consequence.ts'

/** The key of a document. */
export type DocumentKey = Pick<DocumentRow, 'workspace_id' | 'id'>

/**
 * The channel of NOTIFY on which a write tells collab processes that a body has changed. The payload is `<document id>
 * <body_seq>`. When all of the change was typed, the payload ends with ` typed`.
 */
export const liveBodiesChannel = 'svc_live_bodies'

/** What a notification says: the body of a document has changed. */
export type ChangedBody = {
  documentId: string
  bodySeq: number
  /** Whether nothing but typed text of a collab process has changed the body. */
  byTyping: boolean
}

/** Reads the payload of a notification on `liveBodiesChannel`. */
export function readChangedBody(payload: string): ChangedBody {
  const [documentId = '', bodySeq, how] = payload.split(' ')
  return { documentId, bodySeq: Number(bodySeq), byTyping: how === 'typed' }
}

const Bytes = Type.Refine(Type.Unsafe<Uint8Array>({}), (value) => value instanceof Uint8Array)
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

const MovesShape = Type.Object({
  version: Type.String(),
  current_seq: Type.Number(),
  followed_seq: Type.Number(),
  followed_version: Type.String(),
  n: Type.Number(),
  folded_n: Type.Number(),
  state_bytes: Type.Number(),
  log_bytes: Type.Number(),
  updates: Type.Array(Bytes),
})

/**
 * What others have stored since a replica was level. `current_seq` and `version` are those of the current body. The Y
 * document follows the body `followed_seq`, whose version is `followed_version`. `updates` is the log after the row
 * that the replica has seen. `state_bytes` and `log_bytes` are the sizes of the stored state and of the whole log.
 */
export type LiveMoves = Static<typeof MovesShape>

/**
 * A position of a replica: the newest row of the log that it has seen. `isDoubtful` says that the Y document may differ
 * from the body that it follows.
 */
export type Seen = DocumentKey & { n: number; isDoubtful: boolean }

/** What others have stored since a replica was level; null without a document. */
export function liveMoves(db: Queryable, seen: Seen): Promise<LiveMoves | null> {
  return db.maybeOne(
    prepared(sql.type(row(MovesShape))`SELECT ${movedColumns(seen)} FROM documents d ${followed} ${at(seen)}`),
  )
}

const LockedMovesShape = Type.Object({
  ...MovesShape.properties,
  before: Nullable(Type.Number()),
  after: Nullable(Type.Number()),
  middle: Nullable(Bytes),
})

/**
 * What others have stored since a replica was level, read under the lock of the document. `before`, `after` and
 * `middle` are the current body as a `ComparedText`, compared with the body that the Y document follows. They are null
 * when the Y document certainly follows the current body.
 */
export type LockedMoves = Static<typeof LockedMovesShape>

/** Send this statement behind the statement that locks the document. Null without a document. */
export function lockedMoves(tx: Transaction, seen: Seen): Promise<LockedMoves | null> {
  return tx.maybeOne(
    prepared(sql.type(row(LockedMovesShape))`
    SELECT ${movedColumns(seen)}, c.before, c.after, c.middle FROM documents d ${followed} ${withCurrent(seen)} ${at(seen)}`),
  )
}

const FlushShape = Type.Object({
  ...LockedMovesShape.properties,
  changing_at: Type.Number(),
  has_open_jobs: Type.Boolean(),
  is_kept: Type.Boolean(),
  author: Nullable(Type.String()),
})

/**
 * What a flush must know besides the moves of others. `changing_at` and `has_open_jobs` are those of `LockedBody`.
 * `is_kept` says whether the newest snapshot has the text of the current body. `author` is the user who typed, or null
 * when the account is gone.
 */
export type FlushFacts = Static<typeof FlushShape>

/** Send this statement behind the statement that locks the document. Null without a document. */
export function flushFacts(tx: Transaction, seen: Seen & { userId: string }): Promise<FlushFacts | null> {
  return tx.maybeOne(
    prepared(sql.type(row(FlushShape))`
    SELECT ${movedColumns(seen)}, c.before, c.after, c.middle,
      greatest(clock_timestamp()::timestamptz(3), d.updated_at) AS changing_at,
      ${isSourceOfOpenJob(sql.fragment`d.workspace_id`, sql.fragment`d.id`)} AS has_open_jobs,
      EXISTS (
        SELECT FROM document_versions v
        JOIN document_bodies k ON k.workspace_id = v.workspace_id AND k.document_id = v.document_id
          AND k.body_seq = v.body_seq
        WHERE v.workspace_id = d.workspace_id AND v.document_id = d.id AND v.seq = d.version_seq
          AND k.version = d.version) AS is_kept,
      (SELECT u.id FROM users u WHERE u.id = ${seen.userId}) AS author
    FROM documents d ${followed} ${withCurrent(seen)} ${at(seen)}`),
  )
}

function movedColumns({ n }: Seen) {
  return sql.fragment`
    d.version, d.body_seq AS current_seq, y.body_seq AS followed_seq, f.version AS followed_version, y.n, y.folded_n,
    octet_length(y.state) AS state_bytes,
    (
      SELECT coalesce(sum(octet_length(u.update)), 0)::int8 FROM document_y_updates u
      WHERE u.workspace_id = y.workspace_id AND u.document_id = y.document_id) AS log_bytes,
    ${updatesAfter(sql.fragment`${n}::int8`)} AS updates`
}

const followed = sql.fragment`
  JOIN document_y_states y ON y.workspace_id = d.workspace_id AND y.document_id = d.id
  JOIN document_bodies f ON f.workspace_id = y.workspace_id AND f.document_id = y.document_id
    AND f.body_seq = y.body_seq`

// Bodies are compared in stretches of so many bytes, from the front and from the back.
const stretch = sql.fragment`16384`

// The current body, compared with the body that the Y document follows. So only what differs leaves the database. When
// the Y document may differ from its body, all of the current body does.
function withCurrent({ isDoubtful }: Seen) {
  return sql.fragment`
    LEFT JOIN LATERAL (
      SELECT e.before, e.after,
        substring(t.new FROM e.before + 1 FOR octet_length(t.new) - e.before - e.after) AS middle
      FROM document_bodies b
      CROSS JOIN LATERAL (
        SELECT convert_to(f.body, 'UTF8') AS old, convert_to(b.body, 'UTF8') AS new,
          CASE WHEN ${isDoubtful}::boolean THEN 0 ELSE least(octet_length(f.body), octet_length(b.body)) END AS shorter
        OFFSET 0) t
      CROSS JOIN LATERAL (
        SELECT coalesce(min(i), t.shorter) AS before FROM generate_series(0, t.shorter, ${stretch}) AS i
        WHERE substring(t.old FROM i + 1 FOR ${stretch}) <> substring(t.new FROM i + 1 FOR ${stretch})) s
      CROSS JOIN LATERAL (
        SELECT s.before, least(coalesce(min(i), t.shorter), t.shorter - s.before) AS after
        FROM generate_series(0, t.shorter, ${stretch}) AS i
        WHERE substring(t.old FROM octet_length(t.old) - i - ${stretch} + 1 FOR ${stretch})
          <> substring(t.new FROM octet_length(t.new) - i - ${stretch} + 1 FOR ${stretch})) e
      WHERE b.workspace_id = d.workspace_id AND b.document_id = d.id AND b.body_seq = d.body_seq
        AND (b.body_seq <> y.body_seq OR ${isDoubtful}::boolean)
    ) c ON true`
}

function at({ workspace_id, id }: DocumentKey) {
  return sql.fragment`WHERE d.workspace_id = ${workspace_id} AND d.id = ${id}`
}

function updatesAfter(n: ReturnType<typeof sql.fragment>) {
  return sql.fragment`
    ARRAY(
      SELECT u.update FROM document_y_updates u
      WHERE u.workspace_id = y.workspace_id AND u.document_id = y.document_id AND u.n > ${n} ORDER BY u.n)`
}

/**
 * Stores the first state of a document, derived from a body that is still kept. Every later state is the earlier state
 * with the log merged into it (`foldLog`). Does nothing when a state is stored already.
 */
export function insertState(tx: Transaction, stored: DocumentKey & { state: Uint8Array; body_seq: number }): void {
  const { workspace_id, id, body_seq } = stored
  tx.send(sql.unsafe`
    INSERT INTO document_y_states (workspace_id, document_id, state, body_seq)
    SELECT workspace_id, document_id, ${sql.binary(Buffer.from(stored.state))}, body_seq FROM document_bodies
    WHERE workspace_id = ${workspace_id} AND document_id = ${id} AND body_seq = ${body_seq}
    ON CONFLICT DO NOTHING`)
}

/**
 * Appends updates to the log behind row `n`, and records that the Y document follows the body `body_seq` now. Drops the
 * `earlier` bodies, except those that are current or that a snapshot keeps.
 */
export function advance(
  tx: Transaction,
  input: DocumentKey & { n: number; updates: readonly Uint8Array[]; body_seq: number; earlier: readonly number[] },
): void {
  const { workspace_id, id, n, updates, body_seq, earlier } = input
  const bytes = updates.map((update) => Buffer.from(update.buffer, update.byteOffset, update.byteLength))
  tx.send(
    prepared(sql.unsafe`
    WITH appended AS (
      INSERT INTO document_y_updates (workspace_id, document_id, n, update)
      SELECT ${workspace_id}, ${id}, ${n}::int8 + u.ordinal, u.update
      FROM unnest(${sql.array(bytes, 'bytea')}) WITH ORDINALITY AS u (update, ordinal)
    ), advanced AS (
      UPDATE document_y_states SET body_seq = ${body_seq}, n = ${n + updates.length}, updated_at = clock_timestamp()
      WHERE workspace_id = ${workspace_id} AND document_id = ${id}
    )
    DELETE FROM document_bodies b
    WHERE b.workspace_id = ${workspace_id} AND b.document_id = ${id}
      AND b.body_seq = ANY(${sql.array([...earlier], 'int8')})
      AND NOT EXISTS (
        SELECT FROM documents d
        WHERE d.workspace_id = ${workspace_id} AND d.id = ${id} AND d.body_seq = b.body_seq)
      AND NOT EXISTS (
        SELECT FROM document_versions v
        WHERE v.workspace_id = ${workspace_id} AND v.document_id = ${id} AND v.body_seq = b.body_seq)`),
  )
}

/**
 * Replaces the state by a state that contains the log up to row `n`, and deletes the rows of the log up to there. Does
 * nothing when the stored state contains that row already.
 */
export function foldLog(tx: Transaction, input: DocumentKey & { n: number; state: Uint8Array }): void {
  const { workspace_id, id, n } = input
  tx.send(sql.unsafe`
    WITH replaced AS (
      UPDATE document_y_states
      SET state = ${sql.binary(Buffer.from(input.state))}, folded_n = ${n}, updated_at = clock_timestamp()
      WHERE workspace_id = ${workspace_id} AND document_id = ${id} AND folded_n < ${n}
      RETURNING document_id
    )
    DELETE FROM document_y_updates u USING replaced
    WHERE u.workspace_id = ${workspace_id} AND u.document_id = ${id} AND u.n <= ${n}`)
}

/**
 * Tells collab processes that a document they may hold open has changed. Nothing is sent for a document that was never
 * opened live, because commits that notify wait for each other in the whole database server. `isTyped` says that all of
 * the change was typed, so that no collab process needs to flush because of it.
 */
export function notifyLive(
  tx: Transaction,
  document: DocumentKey & { body_seq: number },
  { isTyped }: { isTyped: boolean } = { isTyped: false },
): void {
  const payload = `${document.id} ${document.body_seq}${isTyped ? ' typed' : ''}`
  tx.send(
    prepared(sql.unsafe`
    SELECT pg_notify(${liveBodiesChannel}, ${payload}) FROM document_y_states
    WHERE workspace_id = ${document.workspace_id} AND document_id = ${document.id}`),
  )
}

/**
 * A consequence of body writes: tells collab processes of the changed body, unless the document was never opened live.
 */
export function notifyLiveEditors({ tx }: CommitContext, { document, isLive }: BodyWrite): void {
  if (isLive) notifyLive(tx, document)
}
