import { insertAuditEntries } from '../../shared/audit/audit.ts'
import type { Caller } from '../../shared/auth/caller.ts'
import { membershipsOf } from '../../shared/auth/queries.ts'
import { scopes } from '../../shared/auth/scopes.ts'
import type { Transaction } from '../../shared/database/database.ts'
import { parseUserAgent } from '../../shared/requests/client.ts'
import type { AccountCall } from './account-page.ts'

/**
 * The person who is signed in as the caller of a function that the API calls, too. A session has no scopes, so the
 * caller has all of them, and the role alone decides.
 */
export async function callerOfSession({ service, user }: AccountCall): Promise<Caller> {
  const memberships = await membershipsOf(service.database, user.userId)
  return { ...user, tokenId: '', scopes, expiresAt: null, memberships }
}

/**
 * Records an accepted write of a page in the audit log, in the transaction of the write. `action` is the `operationId`
 * of the operation of the API that does the same. The entry names no token, because a session has none.
 */
export function recordPageWrite(
  tx: Transaction,
  { call, action, documentIds }: { call: AccountCall; action: string; documentIds: readonly string[] },
): void {
  const { request, response, user } = call
  const client = parseUserAgent(request.headers['user-agent'])
  insertAuditEntries(tx, {
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
    place: { workspaceId: null, knowledgeBaseId: null, folderId: null },
  })
}
