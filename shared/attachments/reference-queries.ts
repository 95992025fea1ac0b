import Type from 'typebox'
import { type Queryable, sql, type Transaction } from '../database.ts'
import { row } from '../row.ts'

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

/** The documents of a workspace whose bodies show an attachment, by id; at most `limit`. */
export function referencingDocuments(
  db: Queryable,
  input: { workspaceId: string; attachmentId: string; limit: number },
): Promise<readonly string[]> {
  return db.anyFirst(sql.type(IdRow)`
    SELECT document_id AS id FROM attachment_references
    WHERE workspace_id = ${input.workspaceId} AND attachment_id = ${input.attachmentId}
    ORDER BY document_id LIMIT ${input.limit}`)
}
