import Type, { type Static } from 'typebox'
import { prepared, type Queryable, sql, type Transaction } from '../database/database.ts'
import { row } from '../database/row.ts'
import { inWorkspaces } from '../database/workspaces.ts'
import type { DocumentLocator, DocumentRow } from '../documents/queries.ts'
import { nextEventRowNo } from '../events/record.ts'
import { isSourceOfOpenJob } from '../jobs/requested/obsolete.ts'
import { Nullable } from '../schema/identifiers.ts'
import type { Splice } from './versioned-lines.ts'

/** A key that names a document, and thereby finds its bodies. */
type DocumentKey = Pick<DocumentRow, 'workspace_id' | 'id'>

const BodyText = row(Type.Object({ body: Type.String() }))

/** The canonical text of a body of a document. */
export function bodyText(db: Queryable, key: DocumentKey & { body_seq: number }): Promise<string> {
  return db.oneFirst(
    prepared(sql.type(BodyText)`
    SELECT body FROM document_bodies
    WHERE workspace_id = ${key.workspace_id} AND document_id = ${key.id} AND body_seq = ${key.body_seq}`),
  )
}

const LockedShape = Type.Object({
  body: Type.String(),
  changing_at: Type.Number(),
  event_row_no: Type.Number(),
  is_live: Type.Boolean(),
  has_open_jobs: Type.Boolean(),
})

/**
 * A current body, of a document that the transaction has locked: its canonical text, and further facts. `changing_at`
 * is the time in Unix milliseconds that a change now gets as `updated_at`; it is never earlier than the previous
 * `updated_at`. `event_row_no` is the number for the row of the event that a change records. `is_live` says whether the
 * document was ever opened live, and `has_open_jobs` whether a requested job is open whose source is the document. A
 * member that is false stays false until the transaction ends, because whoever would make it true locks the document
 * first.
 */
export type LockedBody = Static<typeof LockedShape>

/**
 * Returns the body of a visible document, or null. Read it behind the statement that locks the document.
 * Then the statement begins after the lock is taken, so it sees what the last owner of the lock has written.
 */
export function lockedBody(tx: Transaction, locator: DocumentLocator): Promise<LockedBody | null> {
  return tx.maybeOne(
    prepared(sql.type(row(LockedShape))`
    SELECT b.body, greatest(clock_timestamp()::timestamptz(3), d.updated_at) AS changing_at,
      ${nextEventRowNo} AS event_row_no,
      EXISTS (
        SELECT FROM document_y_states y WHERE y.workspace_id = d.workspace_id AND y.document_id = d.id) AS is_live,
      ${isSourceOfOpenJob(sql.fragment`d.workspace_id`, sql.fragment`d.id`)} AS has_open_jobs
    FROM document_directory i
    JOIN documents d ON d.workspace_id = i.workspace_id AND d.id = i.id
    JOIN document_bodies b ON b.workspace_id = d.workspace_id AND b.document_id = d.id AND b.body_seq = d.body_seq
    WHERE i.id = ${locator.documentId} AND i.workspace_id = ANY(${sql.array([...locator.workspaceIds], 'text')})`),
  )
}

/**
 * The stored text of the newest kept body that has one of `versions`, or null when no kept body has any of the
 * versions.
 */
export function keptBodyOfVersion(
  db: Queryable,
  key: DocumentKey & { versions: readonly string[] },
): Promise<string | null> {
  return db.maybeOneFirst(sql.type(BodyText)`
    SELECT body FROM document_bodies
    WHERE workspace_id = ${key.workspace_id} AND document_id = ${key.id}
      AND version = ANY(${sql.array([...key.versions], 'text')})
    ORDER BY body_seq DESC LIMIT 1`)
}

const CurrentShape = Type.Object({
  workspace_id: Type.String(),
  id: Type.String(),
  title: Type.String(),
  version: Type.String(),
  body_seq: Type.Number(),
  updated_at: Type.Number(),
  locale: Nullable(Type.String()),
  body: Type.String(),
})

/** A current body of a visible document that also has the members which answers show beside the body. */
export type CurrentBody = Static<typeof CurrentShape>

/**
 * The current body of a visible document, or null. One statement reads document and body, so that version and text
 * belong together.
 */
export function currentBody(db: Queryable, locator: DocumentLocator): Promise<CurrentBody | null> {
  return db.maybeOne(
    prepared(sql.type(row(CurrentShape))`
    SELECT d.workspace_id, d.id, d.title, d.version, d.body_seq, d.updated_at, d.locale, b.body
    FROM document_directory i
    JOIN documents d ON d.workspace_id = i.workspace_id AND d.id = i.id
    JOIN document_bodies b ON b.workspace_id = d.workspace_id AND b.document_id = d.id AND b.body_seq = d.body_seq
    WHERE i.id = ${locator.documentId} AND ${inWorkspaces(sql.fragment`i.workspace_id`, locator.workspaceIds)}`),
  )
}

/**
 * A new body of a document: its text, or the splices by which it follows from the body before, so that only what
 * changed travels to PostgreSQL; and as JSON text the step from the previous manifest. A stored body and its step never
 * change.
 */
type NewBody = { text: string | readonly Splice[]; step: string }

/**
 * A stored body that a document keeps as its newest snapshot. All but the `keep` newest snapshots are dropped. The body
 * of a dropped snapshot is dropped too, unless it is kept now, is current or a Y document follows it.
 */
type NewSnapshot = { bodySeq: number; size: number; createdBy: string | null; keep: number }

/**
 * Stores a new body of a locked document, its newest snapshot, or both. `document` is the row of the document
 * afterwards. Fails when a body that follows by splices does not have the version of the document.
 */
export async function storeBody(
  tx: Transaction,
  stored: { document: DocumentRow; body: NewBody | null; snapshot: NewSnapshot | null },
): Promise<void> {
  const { document, body, snapshot } = stored
  const parts = [
    ...(body === null ? [] : [manifestOf(document, body), bodyOf(document, body)]),
    ...(snapshot === null ? [] : snapshotOf(document, snapshot)),
  ]
  await tx.query(
    prepared(sql.unsafe`
    WITH ${sql.join(parts, sql.fragment`, `)}
    UPDATE documents SET version = ${document.version}, body_seq = ${document.body_seq},
      version_seq = ${document.version_seq}, character_count = ${document.character_count},
      node_count = ${document.node_count}, updated_by = ${document.updated_by},
      updated_at = to_timestamp(${document.updated_at}::float8 / 1000)
    WHERE workspace_id = ${document.workspace_id} AND id = ${document.id}`),
  )
}

function manifestOf({ workspace_id, id, body_seq, version }: DocumentRow, { step }: NewBody) {
  return sql.fragment`
    manifest AS (
      INSERT INTO document_manifests (workspace_id, document_id, body_seq, version, step)
      VALUES (${workspace_id}, ${id}, ${body_seq}, ${version}, ${step}::jsonb)
    )`
}

function bodyOf({ workspace_id, id, body_seq, version, updated_at }: DocumentRow, { text }: NewBody) {
  const createdAt = sql.fragment`to_timestamp(${updated_at}::float8 / 1000)`
  if (typeof text === 'string') {
    return sql.fragment`
    body AS (
      INSERT INTO document_bodies (workspace_id, document_id, body_seq, version, created_at, body)
      VALUES (${workspace_id}, ${id}, ${body_seq}, ${version}, ${createdAt}, ${text})
    )`
  }
  const pieces = piecesOf(text)
  const column = (name: 'start' | 'length') =>
    sql.array(
      pieces.map((piece) => piece[name]),
      'int4',
    )
  return sql.fragment`
    body AS (
      INSERT INTO document_bodies (workspace_id, document_id, body_seq, version, created_at, body)
      SELECT ${workspace_id}, ${id}, ${body_seq}, ${version}, ${createdAt}, convert_from(whole.bytes, 'UTF8')
      FROM document_bodies b
      CROSS JOIN LATERAL (SELECT convert_to(b.body, 'UTF8') || decode('0a', 'hex') AS bytes OFFSET 0) old
      CROSS JOIN LATERAL (
        SELECT string_agg(substring(old.bytes FROM p.start FOR p.length) || p.added, NULL ORDER BY p.place) AS bytes
        FROM unnest(${column('start')}, ${column('length')}, ${sql.array(
          pieces.map(({ added }) => added),
          'bytea',
        )})
          WITH ORDINALITY AS p (start, length, added, place)) spliced
      CROSS JOIN LATERAL (
        SELECT substring(spliced.bytes FROM 1 FOR octet_length(spliced.bytes) - 1) AS bytes OFFSET 0) whole
      WHERE b.workspace_id = ${workspace_id} AND b.document_id = ${id} AND b.body_seq = ${body_seq - 1}
        AND 'sha256:' || encode(sha256(whole.bytes), 'hex') = ${version}
    )`
}

function snapshotOf(document: DocumentRow, { bodySeq, size, createdBy, keep }: NewSnapshot) {
  const { workspace_id, id, version_seq: seq } = document
  return [
    sql.fragment`
    kept AS (
      INSERT INTO document_versions (workspace_id, document_id, seq, body_seq, size, created_by)
      VALUES (${workspace_id}, ${id}, ${seq}, ${bodySeq}, ${size}, ${createdBy})
    )`,
    sql.fragment`
    dropped AS (
      DELETE FROM document_versions
      WHERE workspace_id = ${workspace_id} AND document_id = ${id} AND seq <= ${seq - keep}
      RETURNING body_seq
    )`,
    sql.fragment`
    forgotten AS (
      DELETE FROM document_bodies b
      USING dropped
      WHERE b.workspace_id = ${workspace_id} AND b.document_id = ${id} AND b.body_seq = dropped.body_seq
        AND b.body_seq <> ${bodySeq} AND b.body_seq <> ${document.body_seq}
        AND NOT EXISTS (
          SELECT FROM document_versions v
          WHERE v.workspace_id = ${workspace_id} AND v.document_id = ${id} AND v.body_seq = b.body_seq
            AND v.seq > ${seq - keep})
        AND NOT EXISTS (
          SELECT FROM document_y_states y
          WHERE y.workspace_id = ${workspace_id} AND y.document_id = ${id} AND y.body_seq = b.body_seq)
    )`,
  ]
}

/** The kept stretches of a text, each with what is added behind it. Bytes count from 1, as in SQL. */
function piecesOf(splices: readonly Splice[]): { start: number; length: number; added: Buffer }[] {
  let kept = 0
  const pieces = splices.map(({ offset, removed, added }) => {
    const piece = { start: kept + 1, length: offset - kept, added }
    kept = offset + removed
    return piece
  })
  return [...pieces, { start: kept + 1, length: endOfText, added: Buffer.alloc(0) }]
}

// The length of a stretch that goes on to the end. PostgreSQL's texts are shorter than 2^30 bytes.
const endOfText = 2 ** 30

/** Stores the first bodies of documents of one workspace. A first body has no step. */
export async function insertFirstBodies(
  tx: Transaction,
  input: { workspaceId: string; bodies: readonly { id: string; version: string; body: string }[] },
): Promise<void> {
  const column = (name: 'id' | 'version' | 'body') =>
    sql.array(
      input.bodies.map((body) => body[name]),
      'text',
    )
  await tx.query(
    prepared(sql.unsafe`
    WITH first AS (
      SELECT * FROM unnest(${column('id')}, ${column('version')}, ${column('body')}) AS f (id, version, body)
    ), manifest AS (
      INSERT INTO document_manifests (workspace_id, document_id, body_seq, version, step)
      SELECT ${input.workspaceId}, id, 1, version, NULL FROM first
    )
    INSERT INTO document_bodies (workspace_id, document_id, body_seq, version, body)
    SELECT ${input.workspaceId}, id, 1, version, body FROM first`),
  )
}

const VersionShape = Type.Object({
  seq: Type.Number(),
  created_at: Type.Number(),
  created_by: Nullable(Type.String()),
  size: Type.Number(),
})

/**
 * Returns the kept snapshots with numbers below `before`, newest first. When there are more than `limit`, returns
 * `limit` and one more.
 */
export function versionPage(
  db: Queryable,
  key: DocumentKey,
  page: { before: number | null; limit: number },
): Promise<readonly Static<typeof VersionShape>[]> {
  const older = page.before === null ? sql.fragment`true` : sql.fragment`seq < ${page.before}`
  return db.any(sql.type(row(VersionShape))`
    SELECT seq, created_at, created_by, size FROM document_versions
    WHERE workspace_id = ${key.workspace_id} AND document_id = ${key.id} AND ${older}
    ORDER BY seq DESC LIMIT ${page.limit + 1}`)
}

const SnapshotShape = Type.Object({ version: Type.String(), updated_at: Type.Number(), body: Type.String() })

/** The body of a snapshot. `updated_at` is the time in Unix milliseconds at which the body was written. */
export type SnapshotBody = Static<typeof SnapshotShape>

/** The body of a kept snapshot, or null when there is no snapshot of that number. */
export function snapshotBody(db: Queryable, key: DocumentKey & { seq: number }): Promise<SnapshotBody | null> {
  return db.maybeOne(sql.type(row(SnapshotShape))`
    SELECT b.version, b.created_at AS updated_at, b.body FROM document_versions v
    JOIN document_bodies b ON b.workspace_id = v.workspace_id AND b.document_id = v.document_id
      AND b.body_seq = v.body_seq
    WHERE v.workspace_id = ${key.workspace_id} AND v.document_id = ${key.id} AND v.seq = ${key.seq}`)
}
