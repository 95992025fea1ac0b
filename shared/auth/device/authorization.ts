import type { Config } from '../../config/config.ts'
import type { Queryable, Transaction } from '../../database/database.ts'
import { Refusal } from '../../errors/errors.ts'
import { insertToken } from '../queries.ts'
import { enforceTokenQuota } from '../token-quota.ts'
import { issueToken } from '../tokens.ts'
import { codeHash } from './codes.ts'
import { notePoll, takeGrant } from './queries.ts'
import type { DeviceToken } from './schema.ts'

/** What a poll found; null for a code that is unknown or was exchanged. */
export type Poll = Awaited<ReturnType<typeof notePoll>>

// Decisions 4.1: each poll that comes too soon costs five seconds. A timer that fires a moment early is no such poll.
const stepSeconds = 5
const graceSeconds = 0.1

/** Notes a poll of the client, also one that is going to be refused. */
export function poll(context: { db: Queryable; config: Config }, deviceCode: string): Promise<Poll> {
  return notePoll(context.db, { deviceCodeHash: hashOf(context.config, deviceCode), stepSeconds, graceSeconds })
}

/**
 * Exchanges a confirmed code for a token, once; refuses with what the poll found otherwise (RFC 8628, 3.5). With 409
 * `quota_exceeded` the code stays confirmed: it can be exchanged once its user has revoked another token.
 */
export async function exchangeCode(
  context: { tx: Transaction; config: Config },
  input: { deviceCode: string; poll: Poll },
): Promise<DeviceToken> {
  const { tx, config } = context
  refuseUndecided(input.poll)
  const grant = await takeGrant(tx, hashOf(config, input.deviceCode))
  if (grant === null) throw new Refusal('invalid_grant')
  await enforceTokenQuota({ tx, config }, grant.user_id)
  const token = issueToken(config.TOKEN_PEPPER)
  const days = config.DEVICE_TOKEN_TTL_DAYS
  const expiresAt = await insertToken(tx, {
    id: token.id,
    userId: grant.user_id,
    name: grant.client_name ?? 'Connected device',
    secretHash: token.secretHash,
    scopes: grant.granted_scopes,
    expiresInDays: days,
  })
  return {
    access_token: token.bearer,
    token_type: 'Bearer',
    token_id: token.id,
    scope: grant.granted_scopes.join(' '),
    scopes: grant.granted_scopes,
    expires_in: days * 86_400,
    expires_at: expiresAt ?? 0,
  }
}

function refuseUndecided(found: Poll): void {
  if (found === null) throw new Refusal('invalid_grant')
  if (found.expired) throw new Refusal('expired_token')
  if (found.status === 'denied') throw new Refusal('access_denied')
  if (found.status === 'approved') return
  if (!found.too_soon) throw new Refusal('authorization_pending')
  const interval = found.interval_seconds
  throw new Refusal('slow_down', { details: { interval }, headers: { 'Retry-After': String(interval) } })
}

function hashOf(config: Config, deviceCode: string): Buffer {
  return codeHash(config.TOKEN_PEPPER, { kind: 'device code', text: deviceCode })
}
