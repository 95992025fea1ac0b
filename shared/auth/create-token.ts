import type { Transaction } from '../database.ts'
import { insertToken } from './queries.ts'
import { resolveScopes } from './scopes.ts'
import { issueToken } from './tokens.ts'

/** What a person asks for in the account (specification 5.1). */
export type TokenRequest = { name: string; access: 'read_write' | 'read_only'; expiresInDays: number | null }

/** Creates a token of the user and returns its id and its full value, which cannot be shown again. */
export async function createToken(
  context: { tx: Transaction; pepper: string; userId: string },
  request: TokenRequest,
): Promise<{ id: string; bearer: string }> {
  const token = issueToken(context.pepper)
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
