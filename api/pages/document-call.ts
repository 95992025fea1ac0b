import type { Caller } from '../../shared/auth/caller.ts'
import type { DocumentRow } from '../../shared/documents/queries.ts'
import { requireDocument } from '../../shared/documents/require.ts'
import type { AccountCall } from './account-page.ts'
import { callerOfSession } from './page-writes.ts'

/** The call of a page about a document, of a person who sees the document. */
export type DocumentCall = AccountCall & {
  caller: Caller
  document: DocumentRow
  /** Whether the role of the person allows writing in the workspace of the document. */
  mayWrite: boolean
}

/** Finds the document that the path names as `documentId`. Refuses with 404 when the person does not see it. */
export async function documentCallOf(call: AccountCall): Promise<DocumentCall> {
  const caller = await callerOfSession(call)
  const documentId = call.params['documentId'] ?? ''
  const document = await requireDocument(call.service.database, { documentId, caller })
  const role = caller.memberships.find(({ workspace_id }) => workspace_id === document.workspace_id)?.role
  return { ...call, caller, document, mayWrite: role === 'owner' || role === 'editor' }
}
