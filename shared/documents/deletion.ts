import { type Caller, requireWriter } from '../auth/caller.ts'
import { type Transaction, withLimitsOf } from '../database/database.ts'
import { recordEvents } from '../events/record.ts'
import type { Client } from '../requests/client.ts'
import { newId } from '../schema/ids.ts'
import { eventDocument } from './present.ts'
import { type DocumentRow, deleteRows, lockDocuments } from './queries.ts'
import { requireLockedDocument } from './require.ts'

/**
 * What was deleted in one workspace: documents by their last rows, folders and knowledge bases by id. `entryId` is the
 * entry of the trash that a deleted folder or knowledge base has; null when nothing goes to the trash.
 */
export type Deletion = {
  workspaceId: string
  documents: readonly DocumentRow[]
  folders: readonly number[]
  knowledgeBases: readonly number[]
  entryId: string | null
}

/**
 * A consequence of deletions. The consequence runs inside the transaction of the deletion, after the rows are gone.
 * This folder gets the list of `shared/consequences` in its context, so it imports none of the nouns whose consequences
 * it calls.
 */
export type DeletionConsequence = (context: DeletionContext, deletion: Deletion) => Promise<void>

/** What an entry of the trash restores: a document, a folder or a knowledge base, with its place and its name. */
export type TrashRoot = {
  entryId: string
  documentCount: number
  name: string
  knowledgeBaseId: number
  /** The folder that contained it; null for the root of the knowledge base. */
  parentFolderId: number | null
} & ({ type: 'document'; documentId: string } | { type: 'folder'; folderId: number } | { type: 'knowledge_base' })

/**
 * The trash, into which deletions move rows of a workspace. `shared/trash` implements it for every table that belongs
 * to a document, folder or knowledge base.
 */
export type Trash = {
  /**
   * Returns the bytes that each of the documents stores in large values: bodies, steps of versions, states and updates
   * of live documents, changes. A document without large values is left out.
   */
  sizesOf: (
    tx: Transaction,
    input: { workspaceId: string; documentIds: readonly string[] },
  ) => Promise<ReadonlyMap<string, number>>
  /**
   * Opens entries, while everything that is deleted still exists. `documentIds` are the documents in deleted folders
   * and knowledge bases.
   */
  open: (
    context: DeletionContext,
    input: { workspaceId: string; roots: readonly TrashRoot[]; documentIds: readonly string[] },
  ) => Promise<void>
  /** Deletes locked documents and moves their rows into the entries of the same place in `entryIds`. */
  moveDocuments: (
    tx: Transaction,
    input: { workspaceId: string; documentIds: readonly string[]; entryIds: readonly string[] },
  ) => Promise<void>
  /** Deletes folders and knowledge bases whose documents are deleted, and moves their rows into one entry. */
  moveContainers: (
    tx: Transaction,
    input: { workspaceId: string; folders: readonly number[]; knowledgeBases: readonly number[]; entryId: string },
  ) => Promise<void>
}

/**
 * The context of a deletion: its transaction, the caller who deletes, and the consequences that follow. `trash` is null
 * when deletions are final.
 */
export type DeletionContext = {
  tx: Transaction
  caller: Caller
  client: Client
  trash: Trash | null
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

/**
 * Deletes documents of one workspace, but no folder or knowledge base, and calls the consequences at once. Each
 * document gets an entry of its own in the trash.
 */
export async function deleteDocuments(
  context: DeletionContext,
  input: { workspaceId: string; documentIds: readonly string[] },
): Promise<void> {
  const documents = await lockDocuments(context.tx, input)
  await deleteLocked(context, { workspaceId: input.workspaceId, documents })
}

type LockedDocuments = { workspaceId: string; documents: readonly DocumentRow[] }

/** Deletes documents of one workspace as `deleteDocuments` does. The transaction has locked the documents. */
export function deleteLocked(context: DeletionContext, input: LockedDocuments): Promise<void> {
  return withLimitsOf(context.tx, 'whole', async () => {
    const { workspaceId, documents } = input
    const roots = documents.map(rootOf)
    if (roots.length > 0) await context.trash?.open(context, { workspaceId, roots, documentIds: [] })
    const entryIds = roots.map(({ entryId }) => entryId)
    await deleteDocumentRows(context, { ...input, entryIds })
    await followDeletion(context, { workspaceId, documents, entryId: null })
  })
}

function rootOf(document: DocumentRow): TrashRoot {
  return {
    entryId: newId('trash'),
    type: 'document',
    documentId: document.id,
    documentCount: 1,
    name: document.title,
    knowledgeBaseId: document.knowledge_base_id,
    parentFolderId: document.folder_id,
  }
}

/**
 * Deletes the rows of locked documents and records a `document.deleted` event for each. Every deletion of a document,
 * folder or knowledge base comes through here, so there may be thousands of documents. They are deleted in slices, none
 * of which takes long. A table whose rows go with a document references `documents` ON DELETE CASCADE; a table whose
 * rows outlive the document does not. `entryIds` has the entry of the trash for each document. The caller has to call
 * `followDeletion` afterwards.
 */
export async function deleteDocumentRows(
  { tx, trash }: DeletionContext,
  input: LockedDocuments & { entryIds: readonly string[] },
): Promise<void> {
  const { workspaceId, documents, entryIds } = input
  const ids = documents.map(({ id }) => id)
  const isOne = documents.length < 2
  const sizes = trash === null || isOne ? new Map() : await trash.sizesOf(tx, { workspaceId, documentIds: ids })
  for (const [from, to] of slicesOf(ids, sizes)) {
    const slice = documents.slice(from, to)
    const documentIds = ids.slice(from, to)
    await recordEvents(tx, { workspaceId, name: 'document.deleted', documents: slice.map(eventDocument) })
    if (trash === null) await deleteRows(tx, { workspaceId, documentIds })
    else await trash.moveDocuments(tx, { workspaceId, documentIds, entryIds: entryIds.slice(from, to) })
  }
}

// The most documents of one slice, and about the most bytes of large values that a slice moves. A document with more
// bytes is a slice of its own.
const sliceDocuments = 200
const sliceBytes = 8 * 1024 * 1024

// Yields the first index of each slice and the index behind its last document. `sizes` has the bytes of documents.
function* slicesOf(ids: readonly string[], sizes: ReadonlyMap<string, number>): Generator<[from: number, to: number]> {
  let from = 0
  let bytes = 0
  for (const [index, id] of ids.entries()) {
    const size = sizes.get(id) ?? 0
    if (index > from && (index - from === sliceDocuments || bytes + size > sliceBytes)) {
      yield [from, index]
      from = index
      bytes = 0
    }
    bytes += size
  }
  if (from < ids.length) yield [from, ids.length]
}

/** Calls the consequences of a deletion in their order. A consequence does what foreign keys cannot do. */
export async function followDeletion(
  context: DeletionContext,
  deleted: Pick<Deletion, 'workspaceId' | 'documents' | 'entryId'> & Partial<Deletion>,
): Promise<void> {
  const deletion = { folders: [], knowledgeBases: [], ...deleted }
  for (const follow of context.consequences.deletion) await follow(context, deletion)
}
