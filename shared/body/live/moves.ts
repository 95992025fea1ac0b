import Type, { type Static } from 'typebox'
import { prepared, type Queryable, sql, type Transaction } from '../../database/database.ts'
import { row } from '../../database/row.ts'
import { nextEventRowNo } from '../../events/record.ts'
import { isSourceOfOpenJob } from '../../jobs/requested/obsolete.ts'
import { Nullable } from '../../schema/identifiers.ts'
import { Bytes, type DocumentKey, updatesAfter } from './queries.ts'

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

/** Read this behind the statement that locks the document. Null without a document. */
export function lockedMoves(tx: Transaction, seen: Seen): Promise<LockedMoves | null> {
  return tx.maybeOne(
    prepared(sql.type(row(LockedMovesShape))`
    SELECT ${movedColumns(seen)}, c.before, c.after, c.middle
    FROM documents d ${followed} ${withCurrent(seen)} ${at(seen)}`),
  )
}

const FlushShape = Type.Object({
  ...LockedMovesShape.properties,
  changing_at: Type.Number(),
  event_row_no: Type.Number(),
  has_open_jobs: Type.Boolean(),
  is_kept: Type.Boolean(),
  author: Nullable(Type.String()),
})

/**
 * What a flush must know besides the moves of others. `changing_at`, `event_row_no` and `has_open_jobs` are those of
 * `LockedBody`. `is_kept` says whether the newest snapshot has the text of the current body. `author` is the user who
 * typed, or null when the account is gone.
 */
export type FlushFacts = Static<typeof FlushShape>

/** Read this behind the statement that locks the document. Null without a document. */
export function flushFacts(tx: Transaction, seen: Seen & { userId: string }): Promise<FlushFacts | null> {
  return tx.maybeOne(
    prepared(sql.type(row(FlushShape))`
    SELECT ${movedColumns(seen)}, c.before, c.after, c.middle,
      greatest(clock_timestamp()::timestamptz(3), d.updated_at) AS changing_at,
      ${nextEventRowNo} AS event_row_no,
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

// Each body is found by a subquery of its own (OFFSET 0), so that PostgreSQL looks it up by its whole key. PostgreSQL
// expects few bodies of a document, and would otherwise read and compare all kept bodies with each other.
const followed = sql.fragment`
  JOIN document_y_states y ON y.workspace_id = d.workspace_id AND y.document_id = d.id
  CROSS JOIN LATERAL (
    SELECT b.version, b.body FROM document_bodies b
    WHERE b.workspace_id = y.workspace_id AND b.document_id = y.document_id AND b.body_seq = y.body_seq
    OFFSET 0) f`

// Bodies are compared in stretches of so many bytes, from the front and from the back.
const stretch = sql.fragment`1024`

// The current body, compared with the body that the Y document follows. So only what differs leaves the database. When
// the Y document may differ from its body, all of the current body does.
function withCurrent({ isDoubtful }: Seen) {
  return sql.fragment`
    LEFT JOIN LATERAL (
      SELECT e.before, e.after,
        substring(t.new FROM e.before + 1 FOR octet_length(t.new) - e.before - e.after) AS middle
      FROM (
        SELECT b.body FROM document_bodies b
        WHERE b.workspace_id = d.workspace_id AND b.document_id = d.id AND b.body_seq = d.body_seq
          AND (d.body_seq <> y.body_seq OR ${isDoubtful}::boolean)
        OFFSET 0) b
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
    ) c ON true`
}

function at({ workspace_id, id }: DocumentKey) {
  return sql.fragment`WHERE d.workspace_id = ${workspace_id} AND d.id = ${id}`
}
