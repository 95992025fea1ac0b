import { type Caller, requireWriter, visibleWorkspaces } from '../auth/caller.ts'
import type { Transaction } from '../database/database.ts'
import { Refusal } from '../errors/errors.ts'
import { deleteDocuments } from './deletion.ts'
import type { DeletionFollower } from './followers.ts'
import { type DocumentRow, lockDocument } from './queries.ts'

/** Deletes one document; `guard` holds a precondition against the locked row. */
export async function deleteDocument(
  context: { tx: Transaction; followers: readonly DeletionFollower[] },
  input: { documentId: string; caller: Caller; guard: (document: DocumentRow) => Promise<void> },
): Promise<void> {
  const { documentId, caller } = input
  const document = await lockDocument(context.tx, { documentId, workspaceIds: visibleWorkspaces(caller) })
  if (document === null) throw new Refusal('document_not_found', { details: { id: documentId } })
  requireWriter(caller, document.workspace_id)
  await input.guard(document)
  await deleteDocuments(context, { workspaceId: document.workspace_id, documentIds: [document.id] })
}
