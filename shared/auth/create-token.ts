import type { Config } from '../config/config.ts'
import type { Transaction } from '../database/database.ts'
import { insertToken } from './queries.ts'
import { resolveScopes } from './scopes.ts'
import { enforceTokenQuota } from './token-quota.ts'
import { issueToken } from './tokens.ts'

/** What a person asks for in the account (specification 5.1). */
export type TokenRequest = { name: string; access: 'read_write' | 'read_only'; expiresInDays: number | null }

/**
 * Creates a token of the user and returns its id and its full value, which cannot be shown again. Refuses with 409
 * `quota_exceeded` when the user has as many tokens as are allowed.
 */
export async function createToken(
  context: { tx: Transaction; config: Pick<Config, 'TOKEN_PEPPER' | 'QUOTA_TOKENS'>; userId: string },
  request: TokenRequest,
): Promise<{ id: string; bearer: string }> {
  await enforceTokenQuota(context, context.userId)
  const token = issueToken(context.config.TOKEN_PEPPER)
  await insertToken(context.tx, {
    id: token.id,
    userId: context.userId,
    name: request.name,
    secretHash: token.secretHash,
    scopes: resolveScopes(request.access).scopes,
    expiresInDays: request.expiresInDays,
  })
  return { id: token.id, bearer: token.bearer }
}
