import type { Caller } from '../../shared/auth/caller.ts'
import { membershipsOf } from '../../shared/auth/queries.ts'
import { scopes } from '../../shared/auth/scopes.ts'
import type { SignedIn } from '../../shared/auth/sessions.ts'
import { onBehalfOf } from '../../shared/turns/requester.ts'
import type { Bucket } from '../http/rate-limit.ts'
import { closeSignal } from '../http/requesters.ts'
import {
  type Browser,
  browserOf,
  knownBrowserOf,
  refuseOtherSites,
  requireOwnForm,
  requireOwnScript,
} from './browser.ts'
import { type FilesForm, readFilesForm } from './files-form.ts'
import type { Form, Page, PageAnswer, PageCall } from './page.ts'
import type { Frame } from './render.ts'
import { answerRepeatable } from './repeated-form.ts'

// A made-up origin, for parsing paths. No request has this origin.
const origin = 'http://service.invalid'
// The path after signing in when no other path was asked for.
const fallback = '/'

/** The input of an account page's handler: the call, and the person who is signed in. */
export type AccountCall = PageCall & {
  user: SignedIn
  /**
   * The person as the caller of a function that the API calls, too. A session has no scopes, so the caller has all of
   * them, and the role alone decides.
   */
  caller: Caller
  /** The id of the browser's session. It is a secret of the browser. */
  sessionId: string
  csrfToken: string
  /** The person who is signed in, for the layout. */
  account: NonNullable<Frame['account']>
}

/** The input of an account page's POST handler, with a form that this browser got from this service. */
export type AccountFormCall = AccountCall & { submitted: Form }

/** Names the bucket in which a call of a page counts. `submitted` is the form of the call, null when it has none. */
export type BucketOf = (call: PageCall & { submitted: Form | null }) => Bucket

/** The input of a handler that gets files. */
export type AccountFilesCall = AccountCall & {
  /**
   * Reads the form, once the handler knows that the person may send files. Refuses with 403 a form that this browser
   * did not get from this service, and else as `readFilesForm` does.
   */
  filesForm: () => Promise<FilesForm>
}

/**
 * Declares a page for people who are signed in. Other people are sent to the sign-in page and come back afterwards.
 * Forms must carry the CSRF token of the session. `upload` takes the form of the page if the form has files. `receive`
 * takes what a script of a page sends by POST, whatever its body is, with that token in the header `X-CSRF-Token`. With
 * `visitors`, other people get that page in place of the sign-in page, and no cookie.
 *
 * Every call counts in one bucket of the person, as calls of the API do: a form or what a script sends as `write`, and
 * every other call as `read`, unless `bucket` names another. A call over the limit is refused with 429. All heavy work
 * of a handler takes its turns on behalf of the person, until the browser goes away.
 */
export function accountPage(spec: {
  path: string
  get?: (call: AccountCall) => Promise<PageAnswer>
  post?: (call: AccountFormCall) => Promise<PageAnswer>
  upload?: (call: AccountFilesCall) => Promise<PageAnswer>
  receive?: (call: AccountCall) => Promise<PageAnswer>
  visitors?: (call: PageCall) => Promise<PageAnswer>
  bucket?: BucketOf
}): Page {
  const { get, post, upload, receive, visitors, bucket = usualBucket } = spec
  const count = (call: AccountCall, submitted: Form | null = null) => countCall(call, bucket({ ...call, submitted }))
  // The page for a person who sends a form after the session has ended. The form is lost, so the person gets the page
  // of the form after signing in.
  const afterForm = ({ request }: PageCall) => (get === undefined ? null : request.path)
  return {
    path: spec.path,
    ...(get && {
      get: (call) =>
        signedIn({ call, comeBack: call.request.originalUrl, visitors }, async (accountCall) => {
          await count(accountCall)
          return get(accountCall)
        }),
    }),
    ...(post && {
      post: (call) =>
        signedIn({ call, comeBack: afterForm(call) }, async (accountCall, browser) => {
          const submitted = await call.form()
          requireOwnForm(call, { browser, form: submitted })
          await count(accountCall, submitted)
          return answerRepeatable(accountCall, {
            form: submitted,
            answer: () => post({ ...accountCall, submitted }),
          })
        }),
    }),
    ...(upload && {
      post: (call) =>
        signedIn({ call, comeBack: afterForm(call) }, async (accountCall, browser) => {
          refuseOtherSites(call)
          await count(accountCall)
          const filesForm = async () => {
            const form = await readFilesForm(call)
            requireOwnForm(call, { browser, form })
            return form
          }
          return upload({ ...accountCall, filesForm })
        }),
    }),
    ...(receive && {
      post: (call) =>
        signedIn({ call, comeBack: null }, async (accountCall, browser) => {
          requireOwnScript(call, browser)
          await count(accountCall)
          return receive(accountCall)
        }),
    }),
  }
}

/** The bucket of most calls. */
export function usualBucket({ request }: PageCall): Bucket {
  return request.method === 'POST' ? 'write' : 'read'
}

// All browsers of a person have one window together, as a token has. The call also counts for all tokens of the person.
async function countCall({ service, user }: AccountCall, bucket: Bucket): Promise<void> {
  await service.rateLimiter.consume(bucket, user.userId, user.userId)
}

async function signedIn(
  visit: {
    call: PageCall
    comeBack: string | null
    visitors?: ((call: PageCall) => Promise<PageAnswer>) | undefined
  },
  handle: (call: AccountCall, browser: Browser) => Promise<PageAnswer>,
): Promise<PageAnswer> {
  const { call, visitors } = visit
  call.response.vary('Cookie')
  const browser = visitors === undefined ? await browserOf(call) : await knownBrowserOf(call)
  const user = browser?.signedIn ?? null
  if (browser === null || user === null) {
    return visitors?.(call) ?? { location: `/login?next=${encodeURIComponent(nextPath(visit.comeBack))}` }
  }
  const { id: sessionId, csrfToken } = browser
  const memberships = await membershipsOf(call.service.database, user.userId)
  const caller = { ...user, tokenId: '', credentialId: '', scopes, expiresAt: null, clientName: null, memberships }
  const accountCall = { ...call, user, caller, sessionId, csrfToken, account: { email: user.email, csrfToken } }
  return onBehalfOf(caller.userId, () => handle(accountCall, browser), { signal: closeSignal(call.response) })
}

/**
 * The path to go to after signing in. The result is the path that was asked for if this path is on this origin,
 * otherwise the workspace. The path is parsed by the rules by which browsers parse Location, so that no
 * path leads to another host.
 */
export function nextPath(asked: string | null): string {
  if (asked === null || !asked.startsWith('/') || !URL.canParse(asked, origin)) return fallback
  const url = new URL(asked, origin)
  // Parsing removes the dot of a path such as `/.//elsewhere.example`. The remaining path begins with `//`, and a
  // browser would take the next word for a host.
  const isOwn = url.origin === origin && !url.pathname.startsWith('//')
  return isOwn ? url.pathname + url.search : fallback
}
