import Type from 'typebox'
import { type Queryable, sql, type Transaction } from '../database/database.ts'
import { row } from '../database/row.ts'
import { attachmentsIn } from './addresses.ts'
import type { BodyWrite, CommitContext } from './consequence.ts'
import { type NamedAttachments, refuse } from './normalise-state.ts'

/** A row of the index of references, which says that the current body of a document shows an attachment. */
type Reference = { documentId: string; attachmentId: string }

type AttachmentKey = { workspace_id: string; id: string }

const IdRow = row(Type.Object({ id: Type.String() }))

/**
 * Refuses with 422 `attachment_not_found` when a body newly shows attachments that its workspace does not have. `ids`
 * are the newly shown attachments. `named` are the attachments that the request names, each with the pointer of its
 * first mention, for the details. An attachment that the request does not name may be gone, since a rollback can show
 * an image that no longer exists. The attachments that exist cannot be deleted until the transaction ends.
 */
export async function requireAttachments(
  tx: Transaction,
  input: { workspaceId: string; ids: Iterable<string>; named: NamedAttachments },
): Promise<void> {
  const { workspaceId, named } = input
  const newlyShown = new Set(input.ids)
  const ids = [...named.keys()].filter((id) => newlyShown.has(id))
  if (ids.length === 0) return
  const found = new Set(await lockAttachmentsForReference(tx, { workspaceId, ids }))
  for (const id of ids) {
    const pointer = found.has(id) ? undefined : named.get(id)
    if (pointer !== undefined) throw refuse('attachment_not_found', pointer, `there is no attachment ${id}`)
  }
}

/**
 * A consequence of body writes: adds to the index of references what the body newly shows, and removes what the body no
 * longer shows.
 */
export async function updateReferences({ tx }: CommitContext, { document, change }: BodyWrite): Promise<void> {
  const { shown, hidden } = change
  if (shown.length + hidden.length === 0) return
  const references = (ids: readonly string[]) => ids.map((attachmentId) => ({ documentId: document.id, attachmentId }))
  await replaceReferences(tx, {
    workspaceId: document.workspace_id,
    shown: references(shown),
    hidden: references(hidden),
  })
}

/** Indexes the references in the bodies of new documents. */
export async function indexReferences(
  tx: Transaction,
  input: { workspaceId: string; bodies: readonly { id: string; body: string }[] },
): Promise<void> {
  const { workspaceId, bodies } = input
  const shown = bodies.flatMap(({ id, body }) =>
    [...attachmentsIn(body)].map((attachmentId) => ({ documentId: id, attachmentId })),
  )
  if (shown.length > 0) await replaceReferences(tx, { workspaceId, shown, hidden: [] })
}

/** The ids of the documents whose bodies show an attachment, in order; all documents when `limit` is null. */
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

/**
 * Locks an attachment until the transaction ends. Meanwhile no other deletion and no body that newly shows the
 * attachment can go on. False when the attachment is gone.
 */
export async function lockAttachmentForDeletion(tx: Transaction, attachment: AttachmentKey): Promise<boolean> {
  const found = await tx.maybeOneFirst(sql.type(IdRow)`
    SELECT id FROM attachments WHERE workspace_id = ${attachment.workspace_id} AND id = ${attachment.id} FOR UPDATE`)
  return found !== null
}

// Returns the given ids that belong to attachments of the workspace. None of these attachments can be deleted until the
// transaction ends.
function lockAttachmentsForReference(
  tx: Transaction,
  input: { workspaceId: string; ids: readonly string[] },
): Promise<readonly string[]> {
  return tx.anyFirst(sql.type(IdRow)`
    SELECT id FROM attachments
    WHERE workspace_id = ${input.workspaceId} AND id = ANY(${sql.array([...input.ids], 'text')})
    ORDER BY id FOR KEY SHARE`)
}

async function replaceReferences(
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
