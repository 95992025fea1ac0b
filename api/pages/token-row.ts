import type { tokensOf } from '../../shared/auth/queries.ts'
import { scopes } from '../../shared/auth/scopes.ts'
import { type Moment, momentOf } from './moment.ts'
import { accessOf } from './scope-words.ts'

/** A token as the list of the account shows it; times are UTC. */
export type ListedToken = {
  id: string
  name: string
  access: string
  scopes: string
  created: Moment
  lastUsed: Moment | null
  expires: Moment | null
  expired: boolean
}

type TokenRow = Awaited<ReturnType<typeof tokensOf>>[number]

/** What the list shows of a token at the time `now` (Unix milliseconds). */
export function listedToken(token: TokenRow, now: number): ListedToken {
  return {
    id: token.id,
    name: token.name ?? 'Unnamed',
    access: accessOf(token.scopes),
    scopes: token.scopes.length === scopes.length ? 'all scopes' : token.scopes.join(', '),
    created: momentOf(token.created_at),
    lastUsed: token.last_used_at === null ? null : momentOf(token.last_used_at),
    expires: token.expires_at === null ? null : momentOf(token.expires_at),
    expired: token.expires_at !== null && token.expires_at <= now,
  }
}
