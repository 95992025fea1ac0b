import { isWriter } from '../../shared/auth/caller.ts'
import type { DocumentRow } from '../../shared/documents/queries.ts'
import { requireDocument } from '../../shared/documents/require.ts'
import type { AccountCall } from './account-page.ts'

/** The input of a page about one document: the call of a person who sees the document. */
export type DocumentCall<Call extends AccountCall = AccountCall> = Call & {
  document: DocumentRow
  /** Whether the role of the person allows writing in the workspace of the document. */
  mayWrite: boolean
}

/** Finds the document that the path of a call names. Refuses with 404 when the person does not see the document. */
export async function documentCallOf<Call extends AccountCall>(call: Call): Promise<DocumentCall<Call>> {
  const { caller } = call
  const documentId = call.params['documentId'] ?? ''
  const document = await requireDocument(call.service.database, { documentId, caller })
  return { ...call, document, mayWrite: isWriter(caller, document.workspace_id) }
}
