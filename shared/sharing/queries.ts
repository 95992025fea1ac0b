import Type, { type Static } from 'typebox'
import { prepared, type Queryable, sql, type Transaction } from '../database/database.ts'
import { row } from '../database/row.ts'
import { inWorkspaces, mergedPage } from '../database/workspaces.ts'
import { inKnowledgeBase, workspaceOfBase } from '../documents/in-knowledge-base.ts'
import { Nullable } from '../schema/identifiers.ts'

const ShareShape = Type.Object({
  workspace_id: Type.String(),
  document_id: Type.String(),
  id: Type.String(),
  expires_at: Nullable(Type.Number()),
  password_hash: Nullable(Type.String()),
  view_count: Type.Number(),
  last_viewed_at: Nullable(Type.Number()),
  created_at: Type.Number(),
  created_by: Nullable(Type.String()),
})
const ShareRow = row(ShareShape)

/** A row of `public_shares`. */
export type ShareRow = Static<typeof ShareShape>

const columns = sql.fragment`
  s.workspace_id, s.document_id, s.id, s.expires_at, s.password_hash, s.view_count, s.last_viewed_at, s.created_at,
  s.created_by`

/** The share of a document, or null while it has none. */
export function shareOfDocument(
  db: Queryable,
  key: { workspaceId: string; documentId: string },
): Promise<ShareRow | null> {
  return db.maybeOne(
    prepared(sql.type(ShareRow)`
    SELECT ${columns} FROM public_shares s
    WHERE s.workspace_id = ${key.workspaceId} AND s.document_id = ${key.documentId}`),
  )
}

const byId = (id: string) => sql.fragment`
  FROM public_share_directory i
  JOIN public_shares s ON s.workspace_id = i.workspace_id AND s.document_id = i.document_id
  WHERE i.id = ${id} AND s.id = i.id`

/** The share of that id, or null when it does not exist, was revoked, was deleted with its document, or has expired. */
export function openShare(db: Queryable, id: string): Promise<ShareRow | null> {
  return db.maybeOne(
    prepared(sql.type(ShareRow)`
    SELECT ${columns} ${byId(id)} AND (s.expires_at IS NULL OR s.expires_at > now())`),
  )
}

/** The share of that id in one of the workspaces, expired or not; null when there is none. */
export function visibleShare(
  db: Queryable,
  locator: { id: string; workspaceIds: readonly string[] },
): Promise<ShareRow | null> {
  return db.maybeOne(
    prepared(sql.type(ShareRow)`
    SELECT ${columns} ${byId(locator.id)} AND ${inWorkspaces(sql.fragment`s.workspace_id`, locator.workspaceIds)}`),
  )
}

/** The filters of a list of shares; `after` is the `created_at` and the id of the last share seen. */
export type ShareFilter = {
  workspaceIds: readonly string[]
  knowledgeBaseId?: number | undefined
  documentId?: string | undefined
  after: readonly (string | number)[] | null
  limit: number
}

/** Up to `limit + 1` shares after a position, newest first. Expired shares are among them. */
export function sharePage(db: Queryable, filter: ShareFilter): Promise<readonly ShareRow[]> {
  const { workspaceIds, knowledgeBaseId, documentId, after, limit } = filter
  const [createdAt, id] = after ?? []
  const owner = { workspaceId: sql.fragment`s.workspace_id`, documentId: sql.fragment`s.document_id` }
  const conditions = [
    ...(documentId === undefined ? [] : [sql.fragment`s.document_id = ${documentId}`]),
    ...(knowledgeBaseId === undefined ? [] : [inKnowledgeBase({ ...owner, knowledgeBaseId })]),
    ...(createdAt === undefined
      ? []
      : [sql.fragment`(s.created_at, s.id) < (${instant(Number(createdAt))}, ${id ?? ''})`]),
  ]
  return db.any(sql.type(ShareRow)`
    ${mergedPage({
      workspaceIds,
      pageOf: (workspaceId) => sql.fragment`
        SELECT ${columns} FROM public_shares s
        WHERE ${sql.join([sql.fragment`s.workspace_id = ${workspaceId}`, ...conditions], sql.fragment` AND `)}
        ORDER BY s.created_at DESC, s.id DESC LIMIT ${limit + 1}`,
      order: sql.fragment`page.created_at DESC, page.id DESC`,
      limit: limit + 1,
      isRead: workspaceOfBase(knowledgeBaseId),
    })}`)
}

/** Stores the share of a document that has none. */
export function insertShare(
  tx: Transaction,
  share: Omit<ShareRow, 'created_at' | 'view_count' | 'last_viewed_at'>,
): Promise<ShareRow> {
  const { workspace_id, document_id, id, expires_at, password_hash, created_by } = share
  return tx.one(
    prepared(sql.type(ShareRow)`
    WITH listed AS (
      INSERT INTO public_share_directory (id, workspace_id, document_id)
      VALUES (${id}, ${workspace_id}, ${document_id})
    )
    INSERT INTO public_shares AS s (workspace_id, document_id, id, expires_at, password_hash, created_by)
    VALUES (${workspace_id}, ${document_id}, ${id}, ${instant(expires_at)}, ${password_hash}, ${created_by})
    RETURNING ${columns}`),
  )
}

/** Changes the named members of a share and returns it; null when the share was revoked meanwhile. */
export function updateShare(
  tx: Transaction,
  share: ShareRow,
  changes: { expiresAt?: number | null | undefined; passwordHash?: string | null | undefined },
): Promise<ShareRow | null> {
  const { expiresAt, passwordHash } = changes
  return tx.maybeOne(
    prepared(sql.type(ShareRow)`
    UPDATE public_shares s SET
      expires_at = CASE WHEN ${expiresAt !== undefined}::boolean THEN ${instant(expiresAt ?? null)}
        ELSE s.expires_at END,
      password_hash = CASE WHEN ${passwordHash !== undefined}::boolean THEN ${passwordHash ?? null}::text
        ELSE s.password_hash END
    WHERE s.workspace_id = ${share.workspace_id} AND s.document_id = ${share.document_id} AND s.id = ${share.id}
    RETURNING ${columns}`),
  )
}

/** Deletes a share. Its id stays in the directory, so that it never comes back. Returns false when it was gone. */
export async function deleteShare(tx: Transaction, share: ShareRow): Promise<boolean> {
  const { rowCount } = await tx.query(
    prepared(sql.unsafe`
    DELETE FROM public_shares s
    WHERE s.workspace_id = ${share.workspace_id} AND s.document_id = ${share.document_id} AND s.id = ${share.id}`),
  )
  return rowCount > 0
}

/**
 * Adds views to the count of a share, if the share still exists. Returns false, and adds nothing, while somebody else
 * has locked the share.
 */
export async function addViews(db: Queryable, share: ShareRow, views: number): Promise<boolean> {
  const isShare = sql.fragment`
    s.workspace_id = ${share.workspace_id} AND s.document_id = ${share.document_id} AND s.id = ${share.id}`
  return db.oneFirst(
    prepared(sql.type(row(Type.Object({ done: Type.Boolean() })))`
    WITH free AS MATERIALIZED (
      SELECT s.workspace_id, s.document_id FROM public_shares s WHERE ${isShare} FOR NO KEY UPDATE SKIP LOCKED),
    counted AS (
      UPDATE public_shares s
      SET view_count = s.view_count + ${views}, last_viewed_at = greatest(s.last_viewed_at, now())
      FROM free WHERE s.workspace_id = free.workspace_id AND s.document_id = free.document_id
      RETURNING 1)
    SELECT EXISTS (SELECT FROM counted) OR NOT EXISTS (SELECT FROM public_shares s WHERE ${isShare}) AS done`),
  )
}

function instant(milliseconds: number | null) {
  return sql.fragment`to_timestamp(${milliseconds}::float8 / 1000)::timestamptz(3)`
}
