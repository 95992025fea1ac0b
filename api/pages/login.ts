import { checkPassword } from '../../shared/auth/passwords.ts'
import { addressOf } from '../http/address.ts'
import type { Guesses } from '../http/throttles.ts'
import { type Browser, browserOf, isProgram, requireOwnForm, signIn } from './browser.ts'
import { accountKey, knownBrowser, remember } from './known-browser.ts'
import { nextPath } from './next-path.ts'
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
