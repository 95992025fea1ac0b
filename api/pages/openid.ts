import { matchIdentity } from '../../shared/auth/identity.ts'
import { keyedHash } from '../../shared/auth/keyed-hash.ts'
import {
  OpenIdError,
  type OpenIdFlow,
  type OpenIdIdentity,
  type OpenIdProvider,
  openIdCallbackPath,
} from '../../shared/auth/openid.ts'
import { isBrowserId, newBrowserId } from '../../shared/auth/sessions.ts'
import { nextPath } from './account-page.ts'
import { browserOf, signIn } from './browser.ts'
import { cookieOf, setCookie } from './cookies.ts'
import { type PageCall, page } from './page.ts'
import { PageRefusal, pageMissing } from './refusals.ts'

// The seconds that a person has to sign in at the provider.
const flowSeconds = 900

/**
 * Sends the browser to the provider. A cookie of this browser holds the secret that the provider's answer must match.
 */
export const openIdPage = page({
  path: '/login/openid',
  async get(call) {
    const provider = providerOf(call)
    const id = newBrowserId()
    const location = await orRefusal(call, () => provider.begin(flowOf(call, id)))
    keepFlows(call, [{ id, next: nextPath(call.query.get('next')) }, ...flowsOf(call)])
    return { location: location.href }
  },
})

/** Takes the browser back from the provider and signs in the person whom the provider has identified. */
export const openIdCallbackPage = page({
  path: openIdCallbackPath,
  async get(call) {
    const provider = providerOf(call)
    const flows = flowsOf(call)
    const begun = flows.find(({ id }) => flowOf(call, id).state === call.query.get('state'))
    const browser = await browserOf(call)
    if (begun === undefined) {
      // The page was reloaded after the sign-in.
      if (browser.signedIn !== null) return { location: nextPath(null) }
      throw notFinished()
    }
    keepFlows(
      call,
      flows.filter((flow) => flow !== begun),
    )
    const { search } = new URL(call.request.originalUrl, 'http://service')
    const identity = await orRefusal(call, () => provider.finish(flowOf(call, begun.id), search))
    const userId = await matchIdentity(call.service.database, identity)
    if (userId === null) throw unknownPerson(identity)
    await signIn(call, { browser, userId })
    return { location: nextPath(begun.next) }
  },
})

// A sign-in that this browser has begun, and the path to go to afterwards.
type Flow = { id: string; next: string }

// The most sign-ins that one browser can have begun, such as in several tabs, and the most characters of their cookie.
const most = { flows: 5, characters: 2000 }

function flowsOf({ request, service }: PageCall): Flow[] {
  const flows = (cookieOf({ request, config: service.config }, 'svc_openid') ?? '').split('|').map((flow) => {
    const [id = '', next = ''] = flow.split(' ')
    return { id, next }
  })
  return flows.filter(({ id }) => isBrowserId(id))
}

// Keeps the newest sign-ins in the cookie of this browser.
function keepFlows({ response, service }: PageCall, flows: readonly Flow[]): void {
  const values = flows.slice(0, most.flows).map(({ id, next }) => `${id} ${next.includes('|') ? '' : next}`)
  while (values.length > 1 && encodeURIComponent(values.join('|')).length > most.characters) values.pop()
  const value = values.join('|')
  setCookie({ response, config: service.config }, { name: 'svc_openid', value, seconds: flowSeconds })
}

function providerOf(call: PageCall): OpenIdProvider {
  if (call.service.openid === null) throw pageMissing()
  return call.service.openid
}

// State, nonce and verifier are derived from the id, so only the cookie has to be kept until the browser comes back.
function flowOf(call: PageCall, id: string): OpenIdFlow {
  const derive = (purpose: string) =>
    keyedHash(call.service.config.SESSION_SECRET, { purpose: `openid ${purpose}`, text: id }).toString('base64url')
  return { state: derive('state'), nonce: derive('nonce'), verifier: derive('verifier') }
}

async function orRefusal<T>(call: PageCall, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof OpenIdError)) throw error
    const { name, code } = (error.cause ?? {}) as { name?: string; code?: string }
    const request_id = call.response.locals['requestId'] as string
    // Only name and code are logged, because the provider's message may contain codes and tokens.
    const facts = { request_id, reason: error.reason, name, code, ...error.facts }
    call.service.log.warn(facts, 'sign-in at the provider failed')
    if (error.reason === 'unreachable') throw unreachable()
    if (error.reason === 'misconfigured') throw misconfigured()
    throw notFinished()
  }
}

function unreachable(): PageRefusal {
  return new PageRefusal(503, {
    heading: 'Your organisation cannot be reached',
    advice: 'Its sign-in does not answer. Try again in a moment, or sign in with your password.',
  })
}

function misconfigured(): PageRefusal {
  return new PageRefusal(503, {
    heading: 'Sign-in is set up incorrectly',
    advice:
      'Your organization’s sign-in does not work with this service. Contact your administrator, or use your password.',
  })
}

function notFinished(): PageRefusal {
  return new PageRefusal(400, {
    heading: 'You are not signed in',
    advice:
      'The sign-in was cancelled, took too long or was begun in another browser. Go to the sign-in page and begin again.',
  })
}

function unknownPerson({ email, emailVerified }: OpenIdIdentity): PageRefusal {
  const advice =
    email !== null && emailVerified
      ? `You have signed in as ${email}, but there is no account of that address here. Ask whoever runs this service for one.`
      : 'Your organisation did not confirm an email address of yours, so no account could be found. Ask whoever runs this service.'
  return new PageRefusal(403, { heading: 'No account here', advice })
}
