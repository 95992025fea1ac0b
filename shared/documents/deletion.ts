import { type Caller, requireWriter } from '../auth/caller.ts'
import { type Transaction, withLimitsOf } from '../database/database.ts'
import { recordEvents } from '../events/record.ts'
import { sourcesDeleted } from '../jobs/requested/obsolete.ts'
import { eventDocument } from './present.ts'
import { type DocumentRow, deleteRows, lockDocuments } from './queries.ts'
import { requireLockedDocument } from './require.ts'

/**
 * A consequence of deletions that a derived noun adds, inside the transaction of the deletion. The processes name all
 * followers, so the core calls nouns that it does not import. A follower is made for each call, so it may know who
 * deletes.
 */
export type DeletionFollower = {
  /** Runs after documents of one workspace were deleted; `documents` are their last rows. */
  documentsDeleted: (
    tx: Transaction,
    input: { workspaceId: string; documents: readonly DocumentRow[] },
  ) => Promise<void>
}

type DeletionContext = { tx: Transaction; followers: readonly DeletionFollower[] }

/**
 * Deletes one document. `guard` checks a precondition against the locked row and throws when the row does not meet it.
 * Refuses with 404 `document_not_found`, and with 403 when the caller is a viewer.
 */
export async function deleteDocument(
  context: DeletionContext,
  input: { documentId: string; caller: Caller; guard: (document: DocumentRow) => Promise<void> },
): Promise<void> {
  const document = await requireLockedDocument(context.tx, input)
  requireWriter(input.caller, document.workspace_id)
  await input.guard(document)
  await deleteDocuments(context, { workspaceId: document.workspace_id, documentIds: [document.id] })
}

/**
 * Deletes documents of one workspace with everything that belongs to them and records a `document.deleted` event for
 * each. Every deletion of a document, folder or knowledge base comes through here, so there may be thousands of
 * documents. A table whose rows go with a document references `documents` ON DELETE CASCADE; a table whose rows outlive
 * the document does not. A follower does what a foreign key cannot say.
 */
export function deleteDocuments(
  context: DeletionContext,
  input: { workspaceId: string; documentIds: readonly string[] },
): Promise<void> {
  return withLimitsOf(context.tx, 'whole', () => deleteWithinLimits(context, input))
}

async function deleteWithinLimits(
  context: DeletionContext,
  input: { workspaceId: string; documentIds: readonly string[] },
): Promise<void> {
  const rows = await lockDocuments(context.tx, input)
  await recordEvents(context.tx, {
    workspaceId: input.workspaceId,
    name: 'document.deleted',
    documents: rows.map(eventDocument),
  })
  await deleteRows(context.tx, input)
  await sourcesDeleted(context.tx, { workspaceId: input.workspaceId, documents: input.documentIds })
  for (const follower of context.followers) {
    await follower.documentsDeleted(context.tx, { workspaceId: input.workspaceId, documents: rows })
  }
}
