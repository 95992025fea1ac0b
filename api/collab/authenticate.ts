import type { Caller } from '../../shared/auth/caller.ts'
import type { Database } from '../../shared/database/database.ts'
import { visibleDocument } from '../../shared/documents/queries.ts'
import { Refusal } from '../../shared/errors/errors.ts'
import { authenticate } from '../http/authenticate.ts'

/** The user behind a connection to one document, with the rights at the time of the authentication. */
export type Editor = {
  caller: Caller
  /** The workspace of the document. */
  workspaceId: string
  readOnly: boolean
  /** The name that other editors see. */
  name: string
}

/** The reasons of a denied connection, which the protocol tells the client. */
export type DenialReason =
  | 'missing_token'
  | 'invalid_token'
  | 'insufficient_scope'
  | 'document_not_found'
  | 'too_many_connections'
  | 'service_unavailable'

/** A connection that is denied. It has no message, because Hocuspocus prints the messages of errors. */
export class Denial extends Error {
  readonly reason: DenialReason

  constructor(reason: DenialReason) {
    super('')
    this.reason = reason
  }
}

/** Finds the user whose bearer token a client has sent for a document. Throws a Denial. */
export async function authenticateEditor(
  context: { database: Database; pepper: string },
  { token, documentId }: { token: string; documentId: string },
): Promise<Editor> {
  if (token === '') throw new Denial('missing_token')
  const caller = await callerOf(context, token)
  if (!caller.scopes.includes('documents:read')) throw new Denial('insufficient_scope')
  const workspaceIds = caller.memberships.map(({ workspace_id }) => workspace_id)
  const document = await visibleDocument(context.database, { documentId, workspaceIds })
  if (document === null) throw new Denial('document_not_found')
  const membership = caller.memberships.find(({ workspace_id }) => workspace_id === document.workspace_id)
  const readOnly = !caller.scopes.includes('documents:write') || membership?.role === 'viewer'
  return { caller, workspaceId: document.workspace_id, readOnly, name: caller.name }
}

async function callerOf(context: { database: Database; pepper: string }, token: string): Promise<Caller> {
  try {
    return await authenticate(context, `Bearer ${token}`)
  } catch (error) {
    if (error instanceof Refusal) throw new Denial('invalid_token')
    throw error
  }
}
