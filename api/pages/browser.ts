import {
  csrfTokenOf,
  endSession,
  findSession,
  isBrowserId,
  isCsrfTokenOf,
  newBrowserId,
  type SignedIn,
  sessionLimits,
  startSession,
} from '../../shared/auth/sessions.ts'
import { cookieOf, setCookie } from './cookies.ts'
import type { Form, PageCall } from './page.ts'
import { PageRefusal } from './refusals.ts'

/** A browser with its id and its CSRF token. `signedIn` is the person who is signed in, or null when nobody is. */
export type Browser = { id: string; csrfToken: string; signedIn: SignedIn | null }

/** Finds the browser of a call. A browser without an id gets an id in a cookie. */
export async function browserOf(call: PageCall): Promise<Browser> {
  const { config } = call.service
  const given = cookieOf({ request: call.request, config }, 'svc_session')
  const known = given !== undefined && isBrowserId(given) ? given : null
  const signedIn = known === null ? null : await findSession(storeOf(call), known)
  const id = known ?? newBrowserId()
  if (known === null) setCookie({ response: call.response, config }, { name: 'svc_session', value: id })
  return { id, csrfToken: csrfTokenOf(config.SESSION_SECRET, id), signedIn }
}

/** Finds the browser of a call as `browserOf` does, but sets no cookie. Null for a browser without an id. */
export async function knownBrowserOf(
  call: Pick<PageCall, 'service' | 'request' | 'response'>,
): Promise<Browser | null> {
  const { config } = call.service
  const id = cookieOf({ request: call.request, config }, 'svc_session') ?? ''
  if (!isBrowserId(id)) return null
  return { id, csrfToken: csrfTokenOf(config.SESSION_SECRET, id), signedIn: await findSession(storeOf(call), id) }
}

/** Signs a user in under a new browser id. An earlier session of the browser ends. */
export async function signIn(call: PageCall, input: { browser: Browser; userId: string }): Promise<void> {
  const id = await startSession(storeOf(call), input.userId)
  if (input.browser.signedIn !== null) await endSession(storeOf(call), input.browser.id)
  const { response, service } = call
  const seconds = sessionLimits.days * 86_400
  setCookie({ response, config: service.config }, { name: 'svc_session', value: id, seconds })
  service.log.info({ request_id: response.locals['requestId'], user_id: input.userId }, 'signed in')
}

/** Signs the user of a browser out. */
export async function signOut(call: PageCall, browser: Browser): Promise<void> {
  await endSession(storeOf(call), browser.id)
  setCookie({ response: call.response, config: call.service.config }, { name: 'svc_session', value: '' })
}

/** Refuses with 403 a request that the page of another site has made the browser send. */
export function refuseOtherSites(call: PageCall): void {
  const site = call.request.get('sec-fetch-site')
  if (site !== undefined && site !== 'same-origin' && site !== 'none') throw forged()
}

/**
 * Refuses with 403 a form that does not have the CSRF token of this browser. Only pages of this service give that token
 * to the browser.
 */
export function requireOwnForm(call: PageCall, submitted: { browser: Browser; form: Form }): void {
  requireToken(call, { browser: submitted.browser, token: submitted.form.field('csrf_token') })
}

/**
 * Refuses with 403 what does not have the CSRF token of this browser in the header `X-CSRF-Token`. Only scripts of this
 * service's pages know that token.
 */
export function requireOwnScript(call: PageCall, browser: Browser): void {
  requireToken(call, { browser, token: call.request.get('x-csrf-token') ?? '' })
}

function requireToken(call: PageCall, { browser, token }: { browser: Browser; token: string }): void {
  refuseOtherSites(call)
  const { SESSION_SECRET } = call.service.config
  if (!isCsrfTokenOf(SESSION_SECRET, { browserId: browser.id, token })) throw forged()
}

/**
 * Whether a program has sent the form. Every browser sends Origin or Sec-Fetch-Site with a form, and this request has
 * neither these headers nor a cookie. So no other site can have made a browser send the form.
 */
export function isProgram({ request }: PageCall): boolean {
  return ['cookie', 'origin', 'sec-fetch-site'].every((name) => request.get(name) === undefined)
}

function forged(): PageRefusal {
  return new PageRefusal(403, {
    heading: 'Please try again',
    advice:
      'The form was too old, or it did not come from this service. Nothing has been done. Go back, reload the page and send it again.',
  })
}

function storeOf(call: Pick<PageCall, 'service'>) {
  return { db: call.service.database, secret: call.service.config.SESSION_SECRET }
}
