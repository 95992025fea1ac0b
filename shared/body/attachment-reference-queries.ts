import Type from 'typebox'
import { type Queryable, sql, type Transaction } from '../database/database.ts'
import { row } from '../database/row.ts'

const IdRow = row(Type.Object({ id: Type.String() }))

/** Which of these attachments a workspace has; none of them can be deleted until the transaction ends. */
export function shareAttachments(
  tx: Transaction,
  input: { workspaceId: string; ids: readonly string[] },
): Promise<readonly string[]> {
  return tx.anyFirst(sql.type(IdRow)`
    SELECT id FROM attachments
    WHERE workspace_id = ${input.workspaceId} AND id = ANY(${sql.array([...input.ids], 'text')})
    ORDER BY id FOR KEY SHARE`)
}

/** The current body of a document shows an attachment. */
export type Reference = { documentId: string; attachmentId: string }

/** Records which bodies of a workspace now show which attachments, and which no longer do. */
export async function replaceReferences(
  tx: Transaction,
  input: { workspaceId: string; shown: readonly Reference[]; hidden: readonly Reference[] },
): Promise<void> {
  await tx.query(sql.unsafe`
    WITH gone AS (
      DELETE FROM attachment_references r USING ${pairs(input.hidden)} AS hidden (attachment_id, document_id)
      WHERE r.workspace_id = ${input.workspaceId} AND r.attachment_id = hidden.attachment_id
        AND r.document_id = hidden.document_id
    )
    INSERT INTO attachment_references (workspace_id, attachment_id, document_id)
    SELECT ${input.workspaceId}, attachment_id, document_id
    FROM ${pairs(input.shown)} AS shown (attachment_id, document_id)
    ON CONFLICT DO NOTHING`)
}

function pairs(references: readonly Reference[]) {
  const attachmentIds = references.map(({ attachmentId }) => attachmentId)
  const documentIds = references.map(({ documentId }) => documentId)
  return sql.fragment`unnest(${sql.array(attachmentIds, 'text')}, ${sql.array(documentIds, 'text')})`
}

type AttachmentKey = { workspace_id: string; id: string }

/** The documents whose bodies show an attachment, by id; all of them when `limit` is null. */
export function referencingDocuments(
  db: Queryable,
  input: { attachment: AttachmentKey; limit: number | null },
): Promise<readonly string[]> {
  const { workspace_id, id } = input.attachment
  return db.anyFirst(sql.type(IdRow)`
    SELECT document_id AS id FROM attachment_references
    WHERE workspace_id = ${workspace_id} AND attachment_id = ${id}
    ORDER BY document_id LIMIT ${input.limit}::bigint`)
}

/** Locks an attachment against deletion and against bodies that newly show it; false when it is gone. */
export async function lockAttachment(tx: Transaction, attachment: AttachmentKey): Promise<boolean> {
  const found = await tx.maybeOneFirst(sql.type(IdRow)`
    SELECT id FROM attachments WHERE workspace_id = ${attachment.workspace_id} AND id = ${attachment.id} FOR UPDATE`)
  return found !== null
}

/** Remembers which locks a transaction holds. */
export async function markLocks(tx: Transaction): Promise<void> {
  await tx.query(sql.unsafe`SAVEPOINT attachment_locks`)
}

/** Gives back every lock, and undoes every write, since `markLocks`. */
export async function giveBackLocks(tx: Transaction): Promise<void> {
  await tx.query(sql.unsafe`ROLLBACK TO SAVEPOINT attachment_locks`)
}
