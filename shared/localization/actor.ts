import type { Caller } from '../auth/caller.ts'
import type { Client } from '../requests/client.ts'
import type { Actor } from './audit.ts'

/** Who calls, as the audit keeps it. */
export function actorOf(caller: Caller, client: Client): Actor {
  return {
    user_id: caller.userId,
    token_id: caller.tokenId,
    client_name: client.name,
    client_version: client.version,
    is_agent: client.isAgent,
  }
}
