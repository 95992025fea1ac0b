import { createHmac, randomInt, timingSafeEqual } from 'node:crypto'
import type { Config } from '../config/config.ts'
import type { Transaction } from '../database/database.ts'
import { Refusal } from '../errors/errors.ts'
import { newId, ulidPattern } from '../schema/ids.ts'
import { keyedHash } from './keyed-hash.ts'
import { insertToken, liveTokens, lockUser, revokeTokenWithHash } from './queries.ts'
import { resolveScopes } from './scopes.ts'

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const secretLength = 43
const bearerForm = new RegExp(`^svc_(tok_${ulidPattern})_([A-Za-z0-9]{${secretLength}})$`)

/** A token that a person asks for on the page of the account; with `expiresInDays` null it never expires. */
export type TokenRequest = { name: string; access: 'read_write' | 'read_only'; expiresInDays: number | null }

/**
 * Creates a token of the user and returns its id; `bearerOf` makes its value. Refuses with 409 `quota_exceeded` when
 * the user has as many tokens as the settings allow.
 */
export async function createToken(
  context: { tx: Transaction; config: Pick<Config, 'TOKEN_PEPPER' | 'QUOTA_TOKENS'>; userId: string },
  request: TokenRequest & { requestId: string },
): Promise<string> {
  const { tx, userId, config } = context
  await enforceTokenQuota(context, userId)
  const id = newId('tok')
  await insertToken(tx, {
    id,
    userId,
    name: request.name,
    secretHash: hashSecret(secretOf(context, request.requestId), config.TOKEN_PEPPER),
    scopes: resolveScopes(request.access).scopes,
    expiresInDays: request.expiresInDays,
  })
  return id
}

/**
 * The full value of a token that `createToken` has made. The secret follows from the request of the user and is stored
 * nowhere, so that a request which arrives twice gets the same value twice.
 */
export function bearerOf(context: TokenOwner, token: { id: string; requestId: string }): string {
  return `svc_${token.id}_${secretOf(context, token.requestId)}`
}

type TokenOwner = { config: Pick<Config, 'TOKEN_PEPPER'>; userId: string }

function secretOf({ config, userId }: TokenOwner, requestId: string): string {
  const hash = keyedHash(config.TOKEN_PEPPER, { purpose: 'secret of a token', text: `${userId} ${requestId}` })
  let rest = BigInt(`0x${hash.toString('hex')}`)
  const base = BigInt(alphabet.length)
  return Array.from({ length: secretLength }, () => {
    const character = alphabet[Number(rest % base)]
    rest /= base
    return character
  }).join('')
}

/**
 * Makes room for one more token of the user, or refuses with 409 `quota_exceeded`. Call it right before the insert: the
 * lock that it takes lets a user create one token at a time, so that the limit is exact.
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

/** A new token: its id, the bearer value `svc_<token id>_<secret>` that is shown once, and the hash that is stored. */
export function issueToken(pepper: string): { id: string; bearer: string; secretHash: Buffer } {
  const id = newId('tok')
  const secret = randomText(secretLength)
  return { id, bearer: `svc_${id}_${secret}`, secretHash: hashSecret(secret, pepper) }
}

/** Splits a bearer value into token id and secret; null when the value has another form. */
export function parseBearer(bearer: string): { id: string; secret: string } | null {
  const match = bearerForm.exec(bearer)
  return match?.[1] !== undefined && match[2] !== undefined ? { id: match[1], secret: match[2] } : null
}

/** Compares a presented secret with the stored HMAC-SHA-256 in constant time. */
export function secretMatches(input: { secret: string; storedHash: Buffer; pepper: string }): boolean {
  const given = hashSecret(input.secret, input.pepper)
  return given.length === input.storedHash.length && timingSafeEqual(given, input.storedHash)
}

/**
 * Revokes the token of a bearer value. A value that is not the value of a token changes nothing, so the caller cannot
 * learn which tokens exist.
 */
export async function revokeBearer(
  context: { tx: Transaction; config: Pick<Config, 'TOKEN_PEPPER'> },
  bearer: string,
): Promise<void> {
  const token = parseBearer(bearer)
  if (token === null) return
  const secretHash = hashSecret(token.secret, context.config.TOKEN_PEPPER)
  await revokeTokenWithHash(context.tx, { id: token.id, secretHash })
}

/** Random base62 text from a cryptographic source. */
export function randomText(length: number): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('')
}

/** The hash under which the secret of a token is stored. */
export function hashSecret(secret: string, pepper: string): Buffer {
  return createHmac('sha256', pepper).update(secret).digest()
}
