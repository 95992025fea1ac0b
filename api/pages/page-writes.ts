import { type AuditedWrite, insertAuditEntries } from '../../shared/audit/audit.ts'
import { computingAhead } from '../../shared/computations/ahead.ts'
import { inTransaction, type Transaction } from '../../shared/database/database.ts'
import { parseUserAgent } from '../../shared/requests/client.ts'
import { type WriteContext, writeContext } from '../http/write-context.ts'
import type { AccountCall } from './account-page.ts'

/**
 * Runs the write of a page as the API runs a write: it is one transaction. `write` gets the context that the functions
 * of the API take, and may run again when it needs a long computation. It records what it has written by
 * `recordPageWrite`.
 */
export async function pageWrite<Written>(
  { service, request, caller }: AccountCall,
  write: (context: WriteContext) => Promise<Written>,
): Promise<Written> {
  const client = parseUserAgent(request.headers['user-agent'])
  return computingAhead((ahead) =>
    inTransaction(service.database, (tx) => write(writeContext({ tx, ahead, service, caller, client }))),
  )
}

/** A write of a page for the audit log. A write without a document names the workspace, knowledge base or folder. */
type PageWrite = {
  call: AccountCall
  /** The `operationId` of the operation of the API that does the same. */
  action: string
  documentIds?: readonly string[]
  place?: Partial<AuditedWrite['place']>
}

/**
 * Records an accepted write of a page in the audit log, in the transaction of the write. The entry names no token,
 * because a session has none.
 */
export async function recordPageWrite(
  tx: Transaction,
  { call, action, documentIds = [], place }: PageWrite,
): Promise<void> {
  const { request, response, user } = call
  const client = parseUserAgent(request.headers['user-agent'])
  await insertAuditEntries(tx, {
    action,
    requestId: response.locals['requestId'] as string,
    tokenId: '',
    userId: user.userId,
    method: request.method,
    path: request.path,
    clientName: client.name,
    clientVersion: client.version,
    isAgent: client.isAgent,
    documentIds,
    place: { workspaceId: null, knowledgeBaseId: null, folderId: null, ...place },
  })
}
