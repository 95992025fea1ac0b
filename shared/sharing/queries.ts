import Type, { type Static } from 'typebox'
import { prepared, type Queryable, sql, type Transaction } from '../database/database.ts'
import { row } from '../database/row.ts'

const ShareShape = Type.Object({
  workspace_id: Type.String(),
  document_id: Type.String(),
  id: Type.String(),
  created_at: Type.Number(),
})
const ShareRow = row(ShareShape)

/** A row of `public_shares`. */
export type ShareRow = Static<typeof ShareShape>

const columns = sql.fragment`s.workspace_id, s.document_id, s.id, s.created_at`

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

/** The share of that id, or null when it does not exist or was deleted with its document. */
export function shareById(db: Queryable, id: string): Promise<ShareRow | null> {
  return db.maybeOne(
    prepared(sql.type(ShareRow)`
    SELECT ${columns} FROM public_share_directory i
    JOIN public_shares s ON s.workspace_id = i.workspace_id AND s.document_id = i.document_id
    WHERE i.id = ${id} AND s.id = i.id`),
  )
}

/** Stores the share of a document that has none. */
export function insertShare(
  tx: Transaction,
  share: Omit<ShareRow, 'created_at'> & { created_by: string },
): Promise<ShareRow> {
  const { workspace_id, document_id, id, created_by } = share
  return tx.one(
    prepared(sql.type(ShareRow)`
    WITH listed AS (
      INSERT INTO public_share_directory (id, workspace_id, document_id)
      VALUES (${id}, ${workspace_id}, ${document_id})
    )
    INSERT INTO public_shares AS s (workspace_id, document_id, id, created_by)
    VALUES (${workspace_id}, ${document_id}, ${id}, ${created_by})
    RETURNING ${columns}`),
  )
}
