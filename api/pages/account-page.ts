import type { SignedIn } from '../../shared/auth/sessions.ts'
import { type Browser, browserOf, requireOwnForm } from './browser.ts'
import type { Form, Page, PageAnswer, PageCall } from './page.ts'
import type { Frame } from './render.ts'

/** What the handler of an account page gets besides. */
export type AccountCall = PageCall & {
  user: SignedIn
  csrfToken: string
  /** For the layout: who is signed in. */
  account: NonNullable<Frame['account']>
}

/** What a POST handler of an account page gets: the form, already known to be the user's own. */
export type AccountFormCall = AccountCall & { submitted: Form }

/**
 * Declares a page for people who are signed in; everybody else is sent to the sign-in page and comes back afterwards.
 * Forms must carry the CSRF token of the session.
 */
export function accountPage(spec: {
  path: string
  get?: (call: AccountCall) => Promise<PageAnswer>
  post?: (call: AccountFormCall) => Promise<PageAnswer>
}): Page {
  const { get, post } = spec
  // A form that is sent when the session has ended is not sent again: a page to begin anew from is shown instead.
  const afterForm = get === undefined ? null : spec.path
  return {
    path: spec.path,
    ...(get && { get: (call) => signedIn({ call, comeBack: call.request.originalUrl }, get) }),
    ...(post && {
      post: (call) =>
        signedIn({ call, comeBack: afterForm }, async (accountCall, browser) => {
          const submitted = await call.form()
          requireOwnForm(call, { browser, form: submitted })
          return post({ ...accountCall, submitted })
        }),
    }),
  }
}

async function signedIn(
  visit: { call: PageCall; comeBack: string | null },
  handle: (call: AccountCall, browser: Browser) => Promise<PageAnswer>,
): Promise<PageAnswer> {
  const { call } = visit
  const browser = await browserOf(call)
  const user = browser.signedIn
  if (user === null) return { location: `/login?next=${encodeURIComponent(nextPath(visit.comeBack))}` }
  call.response.vary('Cookie')
  const { csrfToken } = browser
  return handle({ ...call, user, csrfToken, account: { email: user.email, csrfToken } }, browser)
}

/**
 * Where to go after signing in: a path of this origin, or the tokens of the account when what was asked for is anything
 * else. Read by the rules by which browsers read a Location, so that nothing passes here that leads elsewhere there.
 */
export function nextPath(asked: string | null): string {
  if (asked === null || !asked.startsWith('/') || !URL.canParse(asked, origin)) return fallback
  const url = new URL(asked, origin)
  // A path such as /.//elsewhere.example loses its dot in reading and would then name a host.
  const isOwn = url.origin === origin && !url.pathname.startsWith('//')
  return isOwn ? url.pathname + url.search : fallback
}

const origin = 'http://service.invalid'
const fallback = '/account/tokens'
