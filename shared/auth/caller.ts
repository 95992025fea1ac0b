import { Refusal } from '../errors/errors.ts'
import type { Me, Role } from './schema.ts'
import type { Scope } from './scopes.ts'

/** A workspace in which the user of the caller is a member, and the role of the user there. */
export type Membership = { workspace_id: string; name: string; role: Role }

/**
 * The user and the token of a call. A call may do what both the scopes of the token and the role of the user in the
 * workspace allow: api/guide/authentication.md#roles.
 */
export type Caller = {
  tokenId: string
  /**
   * The id under which rates, event streams and idempotency keys count: the grant of a token of OAuth, which stays the
   * same when the program renews its token, and otherwise the token.
   */
  credentialId: string
  userId: string
  email: string
  name: string
  scopes: readonly Scope[]
  /** When the token expires, in Unix milliseconds; null when the token never expires. */
  expiresAt: number | null
  /** The name of the program to which the user gave the token by OAuth; null for every other token. */
  clientName: string | null
  /** The memberships of the user, oldest first. The workspace of the first is the default workspace. */
  memberships: readonly Membership[]
}

/** Ids of the workspaces that the caller can see. Objects of other workspaces do not exist for the caller. */
export function visibleWorkspaces(caller: Caller): string[] {
  return caller.memberships.map((membership) => membership.workspace_id)
}

/** Whether the caller's role in the workspace may write. */
export function isWriter(caller: Caller, workspaceId: string): boolean {
  const role = caller.memberships.find((membership) => membership.workspace_id === workspaceId)?.role
  return role === 'owner' || role === 'editor'
}

/** Refuses with 403 `forbidden` unless the caller's role in the workspace may write. */
export function requireWriter(caller: Caller, workspaceId: string): void {
  if (!isWriter(caller, workspaceId)) throw new Refusal('forbidden', { details: { required_role: 'editor' } })
}

/**
 * Ids of the workspaces that the caller owns. Refuses with 403 `forbidden` a caller who owns none.
 */
export function ownedWorkspaces(caller: Caller): string[] {
  const owned = caller.memberships.filter(({ role }) => role === 'owner')
  if (owned.length === 0) throw new Refusal('forbidden', { details: { required_role: 'owner' } })
  return owned.map(({ workspace_id }) => workspace_id)
}

/**
 * The workspace that gets the caller's new knowledge bases: the workspace of the oldest membership. Refuses with 404
 * `workspace_not_found` when the user is in no workspace.
 */
export function defaultWorkspace(caller: Caller): Membership {
  const [membership] = caller.memberships
  if (membership === undefined) throw new Refusal('workspace_not_found', { details: { id: null } })
  return membership
}

/** The caller as the API returns it, with the address at which the caller's editors open documents. */
export function presentCaller(caller: Caller, collaborationUrl: string): Me {
  return {
    user: { id: caller.userId, email: caller.email, name: caller.name },
    scopes: [...caller.scopes],
    token_id: caller.tokenId,
    workspaces: caller.memberships.map(({ workspace_id, name, role }) => ({ id: workspace_id, name, role })),
    expires_at: caller.expiresAt,
    client_name: caller.clientName,
    collaboration_url: collaborationUrl,
  }
}
