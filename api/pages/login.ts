import { keyedHash, sameText } from '../../shared/auth/keyed-hash.ts'
import { checkPassword } from '../../shared/auth/passwords.ts'
import { comparedEmail } from '../../shared/auth/queries.ts'
import { randomText } from '../../shared/auth/tokens.ts'
import { addressOf } from '../http/requesters.ts'
import type { Guesses } from '../http/throttles.ts'
import { nextPath } from './account-page.ts'
import { type Browser, browserOf, isProgram, refuseOtherSites, requireOwnForm, signIn, signOut } from './browser.ts'
import { cookieOf, setCookie } from './cookies.ts'
import { type PageAnswer, type PageCall, page } from './page.ts'
import { view } from './render.ts'

const loginView = view<{
  csrfToken: string
  next: string
  email: string
  failed: boolean
  hasOpenId: boolean
}>('login')

/** Sign-in with email and password (decisions C, 96 and 97). */
export const loginPage = page({
  path: '/login',
  async get(call) {
    const next = nextPath(call.query.get('next'))
    const browser = await browserOf(call)
    if (browser.signedIn !== null) return { location: next }
    return { html: formOf(call, { browser, next, email: '', failed: false }) }
  },
  async post(call) {
    const browser = await browserOf(call)
    const form = await call.form()
    if (!isProgram(call)) requireOwnForm(call, { browser, form })
    const credentials = { email: form.field('email'), password: form.field('password') }
    const next = nextPath(form.field('next'))
    const account = await accountKey(call, credentials.email)
    const isRight = await call.service.throttles.guess(guessesOf(call, account), () => userOf(call, credentials))
    if (isRight === null) return refused(call, { browser, next, email: credentials.email })
    await signIn(call, { browser, userId: isRight })
    remember(call, account)
    return { location: next }
  },
})

// Nothing that long is a password here; it would only cost time.
const longestPassword = 1024

async function userOf(call: PageCall, credentials: { email: string; password: string }): Promise<string | null> {
  if (credentials.password.length > longestPassword) return null
  return checkPassword(call.service.database, credentials)
}

function guessesOf(call: PageCall, account: string): Guesses {
  const address = addressOf(call.request)
  const known = knownBrowser(call, account)
  if (known !== null) return { 'sign-in-known': known, 'sign-in-address': address }
  return { 'sign-in-address': address, 'sign-in': `${account} ${address}`, 'sign-in-account': account }
}

// A wrong password is a failed authentication like that of a token, and counts as one (decisions 8).
async function refused(call: PageCall, input: { browser: Browser; next: string; email: string }): Promise<PageAnswer> {
  await call.service.rateLimiter.consume('ip', addressOf(call.request))
  call.service.log.info({ request_id: call.response.locals['requestId'] }, 'sign-in refused')
  return { status: 401, html: formOf(call, { ...input, failed: true }) }
}

function formOf(call: PageCall, input: { browser: Browser; next: string; email: string; failed: boolean }): string {
  const { browser, ...shown } = input
  const hasOpenId = call.service.openid !== null
  return loginView({ title: 'Sign in', csrfToken: browser.csrfToken, hasOpenId, ...shown })
}

/**
 * Ends the session (decisions C, 98). It takes no token of a form: the cookie is not sent with the forms of other sites,
 * and whoever sends this by mistake can sign in again.
 */
export const logoutPage = page({
  path: '/logout',
  async post(call) {
    refuseOtherSites(call)
    await signOut(call, await browserOf(call))
    return { location: '/login' }
  },
})

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
