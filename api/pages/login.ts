import { keyedHash, sameText } from '../../shared/auth/keyed-hash.ts'
import { checkPassword } from '../../shared/auth/passwords.ts'
import { comparedEmail, membershipsOf } from '../../shared/auth/queries.ts'
import { randomText } from '../../shared/auth/tokens.ts'
import { titlesOf } from '../../shared/documents/queries.ts'
import { addressOf } from '../http/requesters.ts'
import type { Guesses } from '../http/throttles.ts'
import { nextPath } from './account-page.ts'
import { type Browser, browserOf, isProgram, refuseOtherSites, requireOwnForm, signIn, signOut } from './browser.ts'
import { cookieOf, setCookie } from './cookies.ts'
import { type PageAnswer, type PageCall, page } from './page.ts'
import { view } from './render.ts'
import { forgetUnsent, unsentDocumentIds } from './unsent-text.ts'

// The most characters of a password. No account has a longer password, so hashing a longer text would only cost time.
const longestPassword = 1024
const yearSeconds = 365 * 86_400

const loginView = view<{
  csrfToken: string
  next: string
  email: string
  failed: boolean
  hasOpenId: boolean
}>('login')

/** Sign-in with email and password (api/guide/authentication.md#sign-in). */
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
    const userId = await call.service.throttles.guess(guessesOf(call, account), () => userOf(call, credentials))
    if (userId === null) return refused(call, { browser, next, email: credentials.email })
    await signIn(call, { browser, userId })
    remember(call, account)
    return { location: next }
  },
})

/** A document with unsent text. The title is null when the person does not see the document any more. */
type Unsent = { documentId: string; title: string | null }

const signOutView = view<{ unsent: Unsent[] }>('sign-out')

/**
 * Ends the session. The form needs no CSRF token, because browsers do not send the cookie with the forms of other
 * sites. A person who sends the form by mistake can sign in again. A person whose browser keeps text that was not sent
 * is asked first.
 */
export const logoutPage = page({
  path: '/logout',
  async post(call) {
    refuseOtherSites(call)
    const browser = await browserOf(call)
    const unsent = await unsentOf(call, browser)
    const isMeant = unsent.length === 0 || (await call.form()).field('anyway') !== ''
    if (!isMeant) return { status: 409, html: signOutView({ title: 'Sign out', unsent }) }
    await signOut(call, browser)
    forgetUnsent(call)
    // The editor keeps copies of documents in the browser, which the next person must not find.
    call.response.set('Clear-Site-Data', '"storage"')
    return { location: '/login' }
  },
})

// The documents of which the browser keeps text of its person that was not sent.
async function unsentOf({ service: { database }, request }: PageCall, { signedIn }: Browser): Promise<Unsent[]> {
  const ids = signedIn === null ? [] : unsentDocumentIds(request, signedIn.userId)
  if (signedIn === null || ids.length === 0) return []
  const memberships = await membershipsOf(database, signedIn.userId)
  const workspaceIds = memberships.map(({ workspace_id }) => workspace_id)
  const known = new Map(
    (await titlesOf(database, { documentIds: ids, workspaceIds })).map(({ id, title }) => [id, title]),
  )
  return ids.map((documentId) => ({ documentId, title: known.get(documentId) ?? null }))
}

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

// Answers a wrong password. Like a wrong token, a wrong password counts against the rate limit of the address.
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

// The key that stands for an email address in the table of counted guesses, where nobody can read the address. Every
// spelling that finds an account has the key of this account, so guesses cannot be spread over spellings.
async function accountKey(call: PageCall, email: string): Promise<string> {
  const text = await comparedEmail(call.service.database, email.trim())
  return keyedHash(call.service.config.SESSION_SECRET, { purpose: 'account', text }).toString('base64url')
}

// A browser in which somebody has signed in to an account keeps a cookie as a proof of the sign-in. Wrong passwords
// from such a browser are counted apart. So a person who tries passwords elsewhere can make other browsers wait, but
// cannot lock the owner out. Returns the id in the cookie, or null for other browsers.
function knownBrowser(call: PageCall, account: string): string | null {
  const value = cookieOf({ request: call.request, config: call.service.config }, 'svc_known') ?? ''
  const [nonce = '', proof = ''] = value.split('.')
  return sameText(proofOf(call, { nonce, account }), proof) ? nonce : null
}

// Sets the cookie that makes the browser known to the account.
function remember(call: PageCall, account: string): void {
  const nonce = randomText(22)
  const { response, service } = call
  const value = `${nonce}.${proofOf(call, { nonce, account })}`
  setCookie({ response, config: service.config }, { name: 'svc_known', value, seconds: yearSeconds })
}

function proofOf(call: PageCall, known: { nonce: string; account: string }): string {
  const text = `${known.nonce} ${known.account}`
  return keyedHash(call.service.config.SESSION_SECRET, { purpose: 'known browser', text }).toString('base64url')
}
