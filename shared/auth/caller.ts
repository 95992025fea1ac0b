import { Refusal } from '../errors/errors.ts'
import type { Role } from './schema.ts'
import type { Scope } from './scopes.ts'

/** A workspace the caller's user is a member of. */
export type Membership = { workspace_id: string; name: string; role: Role }

/** Who calls: the effective right is the token's scope and the user's role in the workspace (decisions 1). */
export type Caller = {
  tokenId: string
  userId: string
  email: string
  name: string
  scopes: readonly Scope[]
  expiresAt: number | null
  /** Oldest first; the first is the default workspace. */
  memberships: readonly Membership[]
}

/** Ids of every workspace the caller can see; whatever is elsewhere does not exist for the caller. */
export function visibleWorkspaces(caller: Caller): string[] {
  return caller.memberships.map((membership) => membership.workspace_id)
}

/** Refuses with 403 `forbidden` unless the caller's role in the workspace may write. */
export function requireWriter(caller: Caller, workspaceId: string): void {
  const role = caller.memberships.find((membership) => membership.workspace_id === workspaceId)?.role
  if (role !== 'owner' && role !== 'editor') {
    throw new Refusal('forbidden', { details: { required_role: 'editor' } })
  }
}

/** The workspace new knowledge bases go to: the oldest membership. */
export function defaultWorkspace(caller: Caller): Membership {
  const [membership] = caller.memberships
  if (membership === undefined) throw new Refusal('workspace_not_found', { details: { id: null } })
  return membership
}
