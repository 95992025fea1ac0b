import { type Database, inTransaction, type Transaction } from '../database/database.ts'
import { newId } from '../schema/ids.ts'
import { hashPassword } from './passwords.ts'
import * as queries from './queries.ts'
import type { Role } from './schema.ts'
import { resolveScopes, type Scope } from './scopes.ts'
import { deleteSessionsOf } from './sessions.ts'
import { deleteSignInLinksOf } from './sign-in-links.ts'
import { issueToken, randomText } from './tokens.ts'

/** The options of `npm run bootstrap`, checked. */
export type BootstrapRequest = {
  email: string
  name: string | null
  password: string | null
  /** Name of a workspace, created when missing; null for the user's own workspace, which is named after the email. */
  workspace: string | null
  role: Role
  scopes: Scope[]
  expiresInDays: number | null
}

/** Creates the user and the workspace unless they exist, grants the role, and always issues a new token. */
export async function bootstrap(context: { database: Database; pepper: string }, request: BootstrapRequest) {
  const passwordHash = request.password === null ? null : await hashPassword(request.password)
  return inTransaction(context.database, async (tx) => {
    await queries.lockBootstrap(tx)
    return grant({ tx, pepper: context.pepper, passwordHash }, request)
  })
}

/**
 * Creates the owner of an empty database: `owner@localhost` with a random password, the workspace `Default` and a
 * `read_write` token. Null when a user exists already.
 */
export async function bootstrapOwner(context: { database: Database; pepper: string }) {
  const password = randomText(20)
  const passwordHash = await hashPassword(password)
  return inTransaction(context.database, async (tx) => {
    await queries.lockBootstrap(tx)
    if (await queries.anyUserExists(tx)) return null
    const granted = await grant({ tx, pepper: context.pepper, passwordHash }, ownerRequest)
    return { ...granted, password }
  })
}

const ownerRequest: BootstrapRequest = {
  email: 'owner@localhost',
  name: 'Owner',
  password: null,
  workspace: 'Default',
  role: 'owner',
  scopes: resolveScopes('read_write').scopes,
  expiresInDays: null,
}

async function grant(
  context: { tx: Transaction; pepper: string; passwordHash: string | null },
  request: BootstrapRequest,
) {
  const { tx, passwordHash } = context
  const name = request.name ?? request.email.split('@')[0] ?? request.email
  const user = await queries.ensureUser(tx, { id: newId('usr'), email: request.email, name, passwordHash })
  if (!user.created && passwordHash !== null) {
    await queries.setPasswordHash(tx, { id: user.id, passwordHash })
    await deleteSessionsOf(tx, user.id)
    await deleteSignInLinksOf(tx, user.id)
  }
  const workspaceId = await ensureWorkspace(tx, { userId: user.id, request })
  const token = issueToken(context.pepper)
  const expiresAt = await queries.insertToken(tx, {
    id: token.id,
    userId: user.id,
    name: 'bootstrap',
    secretHash: token.secretHash,
    scopes: request.scopes,
    expiresInDays: request.expiresInDays,
  })
  return {
    user_id: user.id,
    email: request.email,
    workspace_id: workspaceId,
    token_id: token.id,
    token: token.bearer,
    scopes: request.scopes,
    expires_at: expiresAt,
  }
}

async function ensureWorkspace(tx: Transaction, input: { userId: string; request: BootstrapRequest }): Promise<string> {
  const { userId, request } = input
  const existing =
    request.workspace === null
      ? await queries.ownWorkspace(tx, userId)
      : await queries.workspaceByName(tx, request.workspace)
  if (existing !== null && request.workspace === null) return existing.id
  const workspaceId = existing?.id ?? newId('ws')
  if (existing === null)
    await queries.insertWorkspace(tx, { id: workspaceId, name: request.workspace ?? request.email })
  await queries.grantRole(tx, { workspaceId, userId, role: request.workspace === null ? 'owner' : request.role })
  return workspaceId
}
