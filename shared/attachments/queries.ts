import Type, { type Static } from 'typebox'
import { prepared, type Queryable, sql, type Transaction } from '../database/database.ts'
import { row } from '../database/row.ts'
import { inWorkspaces, mergedPage } from '../database/workspaces.ts'
import { inKnowledgeBase, workspaceOfBase } from '../documents/in-knowledge-base.ts'
import { Nullable } from '../schema/identifiers.ts'

const AttachmentShape = Type.Object({
  workspace_id: Type.String(),
  id: Type.String(),
  document_id: Type.String(),
  filename: Type.String(),
  content_type: Type.String(),
  size: Type.Number(),
  sha256: Type.String(),
  referenced: Type.Boolean(),
  created_at: Type.Number(),
  created_by: Nullable(Type.String()),
})
const AttachmentRow = row(AttachmentShape)

/** A row of `attachments`; `referenced` tells whether a body of its workspace shows the attachment. */
export type AttachmentRow = Static<typeof AttachmentShape>

// With EXISTS, the planner may read the references of all attachments at once. A scalar subquery looks up each row.
const isReferenced = sql.fragment`coalesce((
  SELECT true FROM attachment_references r WHERE r.workspace_id = a.workspace_id AND r.attachment_id = a.id LIMIT 1
), false)`

const columns = sql.fragment`
  a.workspace_id, a.id, a.document_id, a.filename, a.content_type, a.size, a.sha256, a.created_at, a.created_by,
  ${isReferenced} AS referenced`

/** The public id of an attachment, and the workspaces that the caller can see. */
export type AttachmentLocator = { id: string; workspaceIds: readonly string[] }

/** A visible attachment, or null. */
export function visibleAttachment(db: Queryable, locator: AttachmentLocator): Promise<AttachmentRow | null> {
  return db.maybeOne(
    prepared(sql.type(AttachmentRow)`
    SELECT ${columns} FROM attachments a
    WHERE ${inWorkspaces(sql.fragment`a.workspace_id`, locator.workspaceIds)} AND a.id = ${locator.id}`),
  )
}

/** The filters of a list of attachments; `after` is the `created_at` and the id of the last attachment seen. */
export type AttachmentFilter = {
  workspaceIds: readonly string[]
  knowledgeBaseId?: number | undefined
  documentId?: string | undefined
  referenced?: boolean | undefined
  after: readonly (string | number)[] | null
  limit: number
}

/** Up to `limit + 1` attachments after a position, newest first. */
export function attachmentPage(db: Queryable, filter: AttachmentFilter): Promise<readonly AttachmentRow[]> {
  const { workspaceIds, knowledgeBaseId, documentId, referenced, after, limit } = filter
  const [createdAt, id] = after ?? []
  const owner = { workspaceId: sql.fragment`a.workspace_id`, documentId: sql.fragment`a.document_id` }
  const conditions = [
    ...(documentId === undefined ? [] : [sql.fragment`a.document_id = ${documentId}`]),
    ...(knowledgeBaseId === undefined ? [] : [inKnowledgeBase({ ...owner, knowledgeBaseId })]),
    ...(referenced === undefined ? [] : [referenced ? isReferenced : sql.fragment`NOT ${isReferenced}`]),
    ...(createdAt === undefined
      ? []
      : [
          sql.fragment`
            (a.created_at, a.id) < (to_timestamp(${createdAt}::float8 / 1000)::timestamptz(3), ${id ?? ''})`,
        ]),
  ]
  return db.any(sql.type(AttachmentRow)`
    ${mergedPage({
      workspaceIds,
      pageOf: (workspaceId) => sql.fragment`
        SELECT ${columns} FROM attachments a
        WHERE ${sql.join([sql.fragment`a.workspace_id = ${workspaceId}`, ...conditions], sql.fragment` AND `)}
        ORDER BY a.created_at DESC, a.id DESC LIMIT ${limit + 1}`,
      order: sql.fragment`page.created_at DESC, page.id DESC`,
      limit: limit + 1,
      isRead: workspaceOfBase(knowledgeBaseId),
    })}`)
}

/** An attachment that the current body of a document shows, or null. */
export function shownAttachment(
  db: Queryable,
  key: { workspaceId: string; documentId: string; id: string },
): Promise<AttachmentRow | null> {
  return db.maybeOne(
    prepared(sql.type(AttachmentRow)`
    SELECT ${columns} FROM attachment_references s
    JOIN attachments a ON a.workspace_id = s.workspace_id AND a.id = s.attachment_id
    WHERE s.workspace_id = ${key.workspaceId} AND s.attachment_id = ${key.id} AND s.document_id = ${key.documentId}`),
  )
}

/** The attachments of documents of one workspace, ordered by document and id. */
export function attachmentsOfDocuments(
  db: Queryable,
  input: { workspaceId: string; documentIds: readonly string[] },
): Promise<readonly AttachmentRow[]> {
  return db.any(sql.type(AttachmentRow)`
    SELECT ${columns} FROM attachments a
    WHERE a.workspace_id = ${input.workspaceId} AND a.document_id = ANY(${sql.array([...input.documentIds], 'text')})
    ORDER BY a.document_id, a.id`)
}

/** Stores the row of a file. The row is already `referenced` when a body named the id before the file existed. */
export function insertAttachment(
  tx: Transaction,
  attachment: Omit<AttachmentRow, 'referenced' | 'created_at'>,
): Promise<AttachmentRow> {
  const { workspace_id, id, document_id, filename, content_type, size, sha256, created_by } = attachment
  return tx.one(
    prepared(sql.type(AttachmentRow)`
    INSERT INTO attachments AS a (workspace_id, id, document_id, filename, content_type, size, sha256, created_by)
    VALUES (${workspace_id}, ${id}, ${document_id}, ${filename}, ${content_type}, ${size}, ${sha256}, ${created_by})
    RETURNING ${columns}`),
  )
}

/** Stores the rows of files of one document. The bytes are stored already. */
export async function insertAttachments(
  tx: Transaction,
  attachments: readonly Omit<AttachmentRow, 'referenced' | 'created_at'>[],
): Promise<void> {
  await tx.query(sql.unsafe`
    INSERT INTO attachments (workspace_id, id, document_id, filename, content_type, size, sha256, created_by)
    SELECT workspace_id, id, document_id, filename, content_type, size, sha256, created_by
    FROM jsonb_populate_recordset(NULL::attachments, ${JSON.stringify(attachments)}::jsonb)`)
}

/** Deletes the row of an attachment; a trigger makes its file an orphan. */
export async function deleteAttachmentRow(
  tx: Transaction,
  key: Pick<AttachmentRow, 'workspace_id' | 'id'>,
): Promise<void> {
  await tx.query(sql.unsafe`DELETE FROM attachments WHERE workspace_id = ${key.workspace_id} AND id = ${key.id}`)
}
