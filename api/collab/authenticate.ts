import { type Caller, visibleWorkspaces } from '../../shared/auth/caller.ts'
import { membershipsOf } from '../../shared/auth/queries.ts'
import { scopes } from '../../shared/auth/scopes.ts'
import { findSessionByHash } from '../../shared/auth/sessions.ts'
import { isTicket, readTicket } from '../../shared/auth/tickets.ts'
import type { Config } from '../../shared/config/config.ts'
import type { Database } from '../../shared/database/database.ts'
import { visibleDocument } from '../../shared/documents/queries.ts'
import { Refusal } from '../../shared/errors/errors.ts'
import { callerOf } from '../http/authenticate.ts'
import type { RateLimiter } from '../http/rate-limit.ts'
import { Denial } from './denial.ts'
import { authorOf, type Editor } from './editor.ts'
import { rightsOf } from './rights.ts'

/** A client's attempt to open a document. */
export type Attempt = {
  /** What the client sends as its token: a bearer token or a ticket. */
  token: string
  documentId: string
  /** The Origin header of the connection; null when the client has sent none. */
  origin: string | null
  /** The address of the client, as the key of rate limits. */
  address: string
}

type Context = {
  database: Database
  config: Config
  rateLimiter: RateLimiter
  /** Rejects with a Denial when the user may open no further document now. It is asked before the document is read. */
  admitUser: (userId: string) => Promise<void>
}

/**
 * Finds the user who opens a document and what the user may do there (api/guide/collaboration.md#tokens).
 * Throws a Denial. A Denial because of the token counts against the client's address.
 */
export async function authenticateEditor(context: Context, attempt: Attempt): Promise<Editor> {
  requireOrigin(context.config, attempt.origin)
  const { caller, sessionHash } = await identify(context, attempt)
  await context.admitUser(caller.userId)
  const { documentId } = attempt
  const document = await visibleDocument(context.database, { documentId, workspaceIds: visibleWorkspaces(caller) })
  const membership = caller.memberships.find(({ workspace_id }) => workspace_id === document?.workspace_id)
  const rights = rightsOf({
    admitted: true,
    may_read: caller.scopes.includes('documents:read'),
    may_write: caller.scopes.includes('documents:write'),
    role: membership?.role ?? null,
  })
  if (rights.denied !== null) throw new Denial(rights.denied)
  return {
    userId: caller.userId,
    workspaceId: membership?.workspace_id ?? '',
    documentId,
    tokenId: sessionHash === null ? caller.tokenId : null,
    sessionHash,
    readOnly: rights.readOnly,
    author: authorOf(caller),
  }
}

// A browser sends the header with every page's connection, and other programs as a rule do not. So a foreign page that
// got hold of a token cannot use the token in a browser.
function requireOrigin({ PUBLIC_ORIGIN, CORS_ALLOWED_ORIGINS: allowed }: Config, origin: string | null): void {
  if (origin === null || origin === PUBLIC_ORIGIN || allowed.includes('*') || allowed.includes(origin)) return
  throw new Denial('forbidden')
}

/** A caller, and the session that let the caller in; null where it was a token. */
type Identified = { caller: Caller; sessionHash: string | null }

// Failed attempts count against the address, as in the API, so that nobody can try many tokens.
async function identify(context: Context, attempt: Attempt): Promise<Identified> {
  const { token, documentId, address } = attempt
  try {
    if (token === '') throw new Denial('missing_token')
    if (isTicket(token)) return await holderOf(context, { ticket: token, documentId })
    return { caller: await callerOf(context, { bearer: token, resource: 'api' }), sessionHash: null }
  } catch (error) {
    if (!(error instanceof Refusal || error instanceof Denial)) throw error
    await countFailure(context.rateLimiter, address)
    throw error instanceof Denial ? error : new Denial('invalid_token')
  }
}

async function countFailure(rateLimiter: RateLimiter, address: string): Promise<void> {
  try {
    await rateLimiter.consume('ip', address)
  } catch (error) {
    throw error instanceof Refusal ? new Denial('rate_limited') : error
  }
}

// The user of a ticket acts by role alone. A session has no scopes, so a caller of a ticket has all of them.
async function holderOf(
  { database, config }: Context,
  presented: { ticket: string; documentId: string },
): Promise<Identified> {
  const ticket = readTicket(config.SESSION_SECRET, presented.ticket)
  if (ticket === null || ticket.documentId !== presented.documentId) throw new Denial('invalid_token')
  const user = await findSessionByHash(database, Buffer.from(ticket.sessionHash, 'hex'))
  if (user === null || user.userId !== ticket.userId) throw new Denial('invalid_token')
  const memberships = await membershipsOf(database, user.userId)
  const caller = { ...user, tokenId: '', credentialId: '', scopes, expiresAt: null, clientName: null, memberships }
  return { caller, sessionHash: ticket.sessionHash }
}
