import { randomInt } from 'node:crypto'
import type { Static } from 'typebox'
import type { Config } from '../../config/config.ts'
import type { Queryable, Transaction } from '../../database/database.ts'
import { Refusal } from '../../errors/errors.ts'
import { cutText } from '../../schema/strings.ts'
import { keyedHash } from '../keyed-hash.ts'
import { insertToken } from '../queries.ts'
import { isReading, resolveScopes, type Scope } from '../scopes.ts'
import { enforceTokenQuota, issueToken, randomText } from '../tokens.ts'
import { decide, insertDeviceCode, lockAddress, notePoll, pendingOf, pendingRequest, takeGrant } from './queries.ts'
import type { DeviceCode, DeviceCodeRequest, DeviceToken } from './schema.ts'

/*
 * The device authorization of RFC 8628, in two halves. A client asks for a pair of codes (`requestCode`) and polls with
 * its device code (`poll`, `exchangeCode`). Meanwhile a person types the user code and decides (`requestOf`,
 * `decideRequest`).
 */

/**
 * The most codes of one address that may wait for their users: enough for an office, too few to fill the table.
 * @internal
 */
export const pendingPerAddress = 100

// Each poll that comes too soon makes the interval five seconds longer. The grace forgives a timer that fires early.
const stepSeconds = 5
const graceSeconds = 0.1

// The alphabet has no vowels, so that codes form no words, and no letters that look alike.
const alphabet = 'BCDFGHJKLMNPQRSTVWXZ'
const half = 4

/** Begins a device authorization. Refuses with 400 `invalid_scope`, and with 429 when too many codes wait. */
export async function requestCode(
  context: { tx: Transaction; config: Config; address: string },
  request: Static<typeof DeviceCodeRequest>,
): Promise<Static<typeof DeviceCode>> {
  const { tx, config, address } = context
  const { scopes, unknown } = resolveScopes(request.scopes ?? 'read_write')
  if (unknown.length > 0 || scopes.length === 0) {
    const shown = unknown.slice(0, 20).map((scope) => cutText(scope, 64))
    throw new Refusal('invalid_scope', { details: { unknown: shown } })
  }
  await refuseTooMany(tx, address)
  const codes = { device: randomText(43), user: newUserCode() }
  const isStored = await insertDeviceCode(tx, {
    deviceCodeHash: deviceCodeHash(config, codes.device),
    userCodeHash: userCodeHash(config, codes.user),
    clientName: request.client_name?.trim() || null,
    scopes,
    address,
    intervalSeconds: config.DEVICE_POLL_INTERVAL_SECONDS,
    lifetimeSeconds: config.DEVICE_CODE_TTL_SECONDS,
  })
  // Another authorization has the same user code, so the client is asked to try again. Equal codes are rare: there are
  // 20^8 codes, and even while a million are stored, one try in 25,000 fails.
  if (!isStored) throw new Refusal('service_unavailable', { headers: { 'Retry-After': '1' } })
  const page = `${config.PUBLIC_ORIGIN}/device`
  return {
    device_code: codes.device,
    user_code: codes.user,
    verification_uri: page,
    verification_uri_complete: `${page}?user_code=${codes.user}`,
    expires_in: config.DEVICE_CODE_TTL_SECONDS,
    interval: config.DEVICE_POLL_INTERVAL_SECONDS,
  }
}

/** The request of a device: its name as the client sent it, the scopes that it wants, and which of them only read. */
export type DeviceRequest = { clientName: string | null; scopes: readonly Scope[]; readOnly: readonly Scope[] }

/**
 * The pending request of a user code, or null when there is none. The code has the form that `readUserCode` returns.
 */
export async function requestOf(
  context: { db: Queryable; config: Config },
  userCode: string,
): Promise<DeviceRequest | null> {
  const found = await pendingRequest(context.db, userCodeHash(context.config, userCode))
  if (found === null) return null
  const { client_name, requested_scopes } = found
  return { clientName: client_name, scopes: requested_scopes, readOnly: requested_scopes.filter(isReading) }
}

/**
 * Grants the scopes to the device in the user's name; with `scopes` null the user refuses the request. The result is
 * false when the request is no longer pending.
 */
export function decideRequest(
  context: { db: Queryable; config: Config },
  decision: { userCode: string; userId: string; scopes: readonly Scope[] | null },
): Promise<boolean> {
  const { userCode, ...rest } = decision
  return decide(context.db, { userCodeHash: userCodeHash(context.config, userCode), ...rest })
}

/** The state of an authorization when a poll arrived; null for a code that is unknown or was exchanged. */
export type Poll = Awaited<ReturnType<typeof notePoll>>

/** Notes a poll of the client. Call it outside the transaction of the exchange, so that a refused poll counts too. */
export function poll(context: { db: Queryable; config: Config }, deviceCode: string): Promise<Poll> {
  const hash = deviceCodeHash(context.config, deviceCode)
  return notePoll(context.db, { deviceCodeHash: hash, stepSeconds, graceSeconds })
}

/**
 * Exchanges a confirmed code for a token, once. Refuses with 400 and the error code of RFC 8628, section 3.5, when the
 * poll found a code that is not confirmed or has expired. After 409 `quota_exceeded` the code stays confirmed, so the
 * client can exchange it once the user has revoked another token.
 */
export async function exchangeCode(
  context: { tx: Transaction; config: Config },
  input: { deviceCode: string; poll: Poll },
): Promise<DeviceToken> {
  const { tx, config } = context
  refuseUndecided(input.poll)
  const grant = await takeGrant(tx, deviceCodeHash(config, input.deviceCode))
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

/**
 * The user code that a person typed, as `XXXX-XXXX`; case, dashes and spaces do not matter. Null when the text cannot
 * be a user code.
 */
export function readUserCode(typed: string): string | null {
  const letters = typed.replaceAll(/[\s\p{Pd}]/gu, '').toUpperCase()
  const isCode = letters.length === 2 * half && [...letters].every((letter) => alphabet.includes(letter))
  return isCode ? withDash(letters) : null
}

async function refuseTooMany(tx: Transaction, address: string): Promise<void> {
  await lockAddress(tx, address)
  const { pending, next_free_seconds } = await pendingOf(tx, address)
  if (pending < pendingPerAddress) return
  const seconds = Math.max(1, Math.ceil(next_free_seconds ?? 1))
  throw new Refusal('rate_limited', {
    details: { bucket: 'ip', retry_after: seconds },
    headers: { 'Retry-After': String(seconds) },
  })
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

function newUserCode(): string {
  return withDash(Array.from({ length: 2 * half }, () => alphabet[randomInt(alphabet.length)]).join(''))
}

function withDash(letters: string): string {
  return `${letters.slice(0, half)}-${letters.slice(half)}`
}

// Only the hashes of both codes are stored.
function deviceCodeHash(config: Config, text: string): Buffer {
  return keyedHash(config.TOKEN_PEPPER, { purpose: 'device code', text })
}

function userCodeHash(config: Config, text: string): Buffer {
  return keyedHash(config.TOKEN_PEPPER, { purpose: 'user code', text })
}
