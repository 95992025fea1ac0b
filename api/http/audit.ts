import { insertAuditEntries } from '../../shared/audit/audit.ts'
import type { Transaction } from '../../shared/database/database.ts'
import type { Answer, Route, UntypedCall } from './route.ts'

type Write = {
  spec: Route
  /** The path of the call below the origin. */
  path: string
  call: Pick<UntypedCall, 'caller' | 'client' | 'requestId' | 'params'>
  answer: Answer
}

/**
 * Records an accepted write in the audit log, in the transaction of the write. The log holds who called what through
 * which program, and never a text of a document (api/guide/authentication.md#audit).
 */
export async function recordWrite(tx: Transaction, { spec, path, call, answer }: Write): Promise<void> {
  const { caller, client, requestId } = call
  const named = namedByPath(spec, call.params)
  await insertAuditEntries(tx, {
    action: spec.operationId,
    requestId,
    tokenId: caller.tokenId,
    userId: caller.userId,
    method: spec.method,
    path,
    // The user approved a program under the name that OAuth knows; the header names any program.
    clientName: caller.clientName ?? client.name,
    clientVersion: caller.clientName === null ? client.version : null,
    isAgent: client.isAgent,
    documentIds: [...new Set(answer.documentIds ?? [named.documentId].filter((id) => id !== null))],
    place: { ...named, workspaceId: answer.workspaceId ?? null },
  })
}

// The document, knowledge base or folder that the parameter `id` of the path names. The error for an unknown id says
// what the parameter names.
function namedByPath(spec: Route, params: Record<string, unknown>) {
  const mark: { 'x-error'?: string } = spec.params?.properties['id'] ?? {}
  const idOf = (error: string) => (mark['x-error'] === error ? params['id'] : null)
  return {
    documentId: idOf('document_not_found') as string | null,
    knowledgeBaseId: idOf('knowledge_base_not_found') as number | null,
    folderId: idOf('folder_not_found') as number | null,
  }
}
