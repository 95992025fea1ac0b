import type { Caller } from './caller.ts'
import type { Me } from './schema.ts'

/** The caller as `GET /me` answers (decisions 4.1). */
export function presentCaller(caller: Caller): Me {
  return {
    user: { id: caller.userId, email: caller.email, name: caller.name },
    scopes: [...caller.scopes],
    token_id: caller.tokenId,
    workspaces: caller.memberships.map(({ workspace_id, name, role }) => ({ id: workspace_id, name, role })),
    expires_at: caller.expiresAt,
  }
}
