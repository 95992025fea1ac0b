import type { Static } from 'typebox'
import type { Config } from '../../config/config.ts'
import type { Transaction } from '../../database/database.ts'
import { Refusal } from '../../errors/errors.ts'
import { cutText } from '../../schema/strings.ts'
import { resolveScopes } from '../scopes.ts'
import { codeHash, newDeviceCode, newUserCode } from './codes.ts'
import { insertDeviceCode, lockAddress, pendingOf } from './queries.ts'
import type { DeviceCode, DeviceCodeRequest } from './schema.ts'

/** What one address may keep waiting for users: many devices behind one router, but no flood that fills the table. */
export const pendingPerAddress = 100

/** Begins a device authorization (decisions 4.1): 400 `invalid_scope`, 429 when the address has too many pending. */
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
  const codes = { device: newDeviceCode(), user: newUserCode() }
  const isStored = await insertDeviceCode(tx, {
    deviceCodeHash: codeHash(config.TOKEN_PEPPER, { kind: 'device code', text: codes.device }),
    userCodeHash: codeHash(config.TOKEN_PEPPER, { kind: 'user code', text: codes.user }),
    clientName: request.client_name?.trim() || null,
    scopes,
    address,
    intervalSeconds: config.DEVICE_POLL_INTERVAL_SECONDS,
    lifetimeSeconds: config.DEVICE_CODE_TTL_SECONDS,
  })
  // One in ten thousand million even while a million are pending: not worth more than another try of the client.
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
