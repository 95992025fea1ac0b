import { type Caller, visibleWorkspaces } from '../auth/caller.ts'
import type { Queryable, Transaction } from '../database/database.ts'
import { Refusal } from '../errors/errors.ts'
import { type DocumentRow, lockDocument, visibleDocument } from './queries.ts'

/**
 * A caller and the id of the document that the call names. `field` is the member of the body that names the document,
 * if it is not the path.
 */
type NamedDocument = { caller: Caller; documentId: string; field?: string }

/** Returns a document that the caller can see; refuses with 404 `document_not_found`. */
export async function requireDocument(db: Queryable, named: NamedDocument): Promise<DocumentRow> {
  const { caller, documentId, field } = named
  const document = await visibleDocument(db, { documentId, workspaceIds: visibleWorkspaces(caller) })
  if (document === null) throw documentNotFound(documentId, field)
  return document
}

/**
 * Returns a document that the caller can see, locked against every other write until the transaction ends. Refuses with
 * 404 `document_not_found`.
 */
export async function requireLockedDocument(tx: Transaction, named: NamedDocument): Promise<DocumentRow> {
  const { caller, documentId, field } = named
  const document = await lockDocument(tx, { documentId, workspaceIds: visibleWorkspaces(caller) })
  if (document === null) throw documentNotFound(documentId, field)
  return document
}

/**
 * The refusal of a call about a document that the caller cannot see: 404 `document_not_found`. `field` is the member of
 * the body that names the document.
 */
export function documentNotFound(id: string, field?: string): Refusal {
  return new Refusal('document_not_found', { details: { id, ...(field !== undefined && { field }) } })
}
