import { type Caller, requireWriter } from '../auth/caller.ts'
import { type Transaction, withLimitsOf } from '../database/database.ts'
import { recordEvents } from '../events/record.ts'
import type { Client } from '../requests/client.ts'
import { eventDocument } from './present.ts'
import { type DocumentRow, deleteRows, lockDocuments } from './queries.ts'
import { requireLockedDocument } from './require.ts'

/** What was deleted in one workspace: documents by their last rows, folders and knowledge bases by id. */
export type Deletion = {
  workspaceId: string
  documents: readonly DocumentRow[]
  folders: readonly number[]
  knowledgeBases: readonly number[]
}

/**
 * A consequence of deletions. The consequence runs inside the transaction of the deletion, after the rows are gone.
 * This folder gets the list of `shared/consequences` in its context, so it imports none of the nouns whose consequences
 * it calls.
 */
export type DeletionConsequence = (context: DeletionContext, deletion: Deletion) => Promise<void> | void

/** The context of a deletion: its transaction, the caller who deletes, and the consequences that follow. */
export type DeletionContext = {
  tx: Transaction
  caller: Caller
  client: Client
  consequences: { deletion: readonly DeletionConsequence[] }
}

/**
 * Deletes one document. `guard` checks a precondition against the locked row and throws when the row does not meet it.
 * Refuses with 404 `document_not_found`, and with 403 when the caller is a viewer.
 */
export async function deleteDocument(
  context: DeletionContext,
  input: { documentId: string; guard: (document: DocumentRow) => Promise<void> },
): Promise<void> {
  const { tx, caller } = context
  const document = await requireLockedDocument(tx, { documentId: input.documentId, caller })
  requireWriter(caller, document.workspace_id)
  await input.guard(document)
  await deleteLocked(context, { workspaceId: document.workspace_id, documents: [document] })
}

/** Deletes documents of one workspace, but no folder or knowledge base, and calls the consequences at once. */
export async function deleteDocuments(
  context: DeletionContext,
  input: { workspaceId: string; documentIds: readonly string[] },
): Promise<void> {
  const documents = await lockDocuments(context.tx, input)
  await deleteLocked(context, { workspaceId: input.workspaceId, documents })
}

type LockedDocuments = { workspaceId: string; documents: readonly DocumentRow[] }

/** Deletes documents of one workspace as `deleteDocuments` does. The transaction has locked the documents. */
export async function deleteLocked(context: DeletionContext, deleted: LockedDocuments): Promise<void> {
  await deleteLockedRows(context.tx, deleted)
  await followDeletion(context, deleted)
}

/**
 * Deletes the rows of documents and records a `document.deleted` event for each; returns their last rows. Every
 * deletion of a document, folder or knowledge base comes through here, so there may be thousands of documents. A table
 * whose rows go with a document references `documents` ON DELETE CASCADE; a table whose rows outlive the document does
 * not. The caller has to call `followDeletion` afterwards.
 */
export function deleteDocumentRows(
  tx: Transaction,
  input: { workspaceId: string; documentIds: readonly string[] },
): Promise<readonly DocumentRow[]> {
  return withLimitsOf(tx, 'whole', async () => {
    const documents = await lockDocuments(tx, input)
    await deleteLockedRows(tx, { workspaceId: input.workspaceId, documents })
    return documents
  })
}

function deleteLockedRows(tx: Transaction, { workspaceId, documents }: LockedDocuments): Promise<void> {
  return withLimitsOf(tx, 'whole', async () => {
    await recordEvents(tx, { workspaceId, name: 'document.deleted', documents: documents.map(eventDocument) })
    await deleteRows(tx, { workspaceId, documentIds: documents.map(({ id }) => id) })
  })
}

/** Calls the consequences of a deletion in their order. A consequence does what foreign keys cannot do. */
export function followDeletion(
  context: DeletionContext,
  deleted: Pick<Deletion, 'workspaceId' | 'documents'> & Partial<Deletion>,
): Promise<void> {
  return withLimitsOf(context.tx, 'whole', async () => {
    const deletion = { folders: [], knowledgeBases: [], ...deleted }
    for (const follow of context.consequences.deletion) await follow(context, deletion)
  })
}
