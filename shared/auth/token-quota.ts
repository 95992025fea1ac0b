import type { Config } from '../config/config.ts'
import type { Transaction } from '../database/database.ts'
import { Refusal } from '../errors/errors.ts'
import { liveTokens, lockUser } from './token-queries.ts'

/**
 * Makes room for one more token of the user, or refuses with 409 `quota_exceeded`. The tokens of a user are made one
 * after the other from here on, so the limit is exact. To be called right before the insert.
 */
export async function enforceTokenQuota(
  context: { tx: Transaction; config: Pick<Config, 'QUOTA_TOKENS'> },
  userId: string,
): Promise<void> {
  await lockUser(context.tx, userId)
  const used = await liveTokens(context.tx, userId)
  const limit = context.config.QUOTA_TOKENS
  if (used >= limit) throw new Refusal('quota_exceeded', { details: { quota: 'tokens', limit, used } })
}
