import { keyedHash, sameText } from '../../shared/auth/keyed-hash.ts'
import { comparedEmail } from '../../shared/auth/queries.ts'
import { randomText } from '../../shared/auth/tokens.ts'
import { cookieOf, setCookie } from './cookies.ts'
import type { PageCall } from './page.ts'

/*
 * A browser in which somebody has signed in to an account keeps a cookie that says so. Its wrong passwords are counted
 * apart: whoever tries passwords from elsewhere can then make other browsers wait, but not lock the owner out (OWASP,
 * "Slow down online guessing attacks with device cookies").
 */

/**
 * What stands for an email where it is counted: nobody reads addresses in the table of windows. Every spelling that
 * finds an account has the key of that account, so guesses cannot be spread over spellings.
 */
export async function accountKey(call: PageCall, email: string): Promise<string> {
  const text = await comparedEmail(call.service.database, email.trim())
  return keyedHash(call.service.config.SESSION_SECRET, { purpose: 'account', text }).toString('base64url')
}

/** The id of the browser when it is known to the account, else null. */
export function knownBrowser(call: PageCall, account: string): string | null {
  const value = cookieOf({ request: call.request, config: call.service.config }, 'svc_known') ?? ''
  const [nonce = '', proof = ''] = value.split('.')
  return sameText(proofOf(call, { nonce, account }), proof) ? nonce : null
}

/** Makes the browser known to the account. */
export function remember(call: PageCall, account: string): void {
  const nonce = randomText(22)
  const { response, service } = call
  const value = `${nonce}.${proofOf(call, { nonce, account })}`
  setCookie({ response, config: service.config }, { name: 'svc_known', value, seconds: 365 * 86_400 })
}

function proofOf(call: PageCall, known: { nonce: string; account: string }): string {
  const text = `${known.nonce} ${known.account}`
  return keyedHash(call.service.config.SESSION_SECRET, { purpose: 'known browser', text }).toString('base64url')
}
