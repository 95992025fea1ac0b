import type { Decision, WaitingRequest } from '../../shared/auth/oauth/authorization-server.ts'
import { createGrant } from '../../shared/auth/oauth/grants.ts'
import { oauthPaths } from '../../shared/auth/oauth/paths.ts'
import { isReading, type Scope, scopeDescriptions } from '../../shared/auth/scopes.ts'
import { inTransaction } from '../../shared/database/database.ts'
import { Refusal } from '../../shared/errors/errors.ts'
import { type AccountCall, type AccountFormCall, accountPage } from './account-page.ts'
import { pageHeaders } from './headers.ts'
import type { PageAnswer } from './page.ts'
import { PageRefusal } from './refusals.ts'
import { view } from './render.ts'

const consentView = view<{
  csrfToken: string
  action: string
  clientName: string | null
  publisher: string | null
  redirectHost: string
  permissions: string[]
  canBeReadOnly: boolean
}>('oauth-consent')

type Outcome = 'approved' | 'read_only' | 'denied'

/**
 * The page on which a person decides about the request of a program (api/guide/authentication.md#oauth). The request
 * belongs to the browser that made it: in another browser the address shows nothing.
 */
export const oauthConsentPage = accountPage({
  path: `${oauthPaths.consent}/{id}`,
  async get(call) {
    return show(call, await requestOf(call))
  },
  async post(call) {
    const waiting = await requestOf(call)
    const chosen = choiceOf(call.submitted.field('decision'), waiting)
    if (chosen === null) return { ...show(call, waiting), status: 400 }
    return decided(call, { waiting, ...chosen })
  },
})

async function requestOf(call: AccountCall): Promise<WaitingRequest> {
  const server = await call.service.oauth()
  const waiting = await server.waiting(call.request, call.response, call.params['id'] ?? '')
  if (waiting === null) throw tooLate()
  return waiting
}

function tooLate(): PageRefusal {
  return new PageRefusal(400, {
    heading: 'Please start again',
    advice: 'The request was too old, or it was answered already. Go back to the program and connect it again.',
  })
}

type Choice = { outcome: Outcome; scopes: readonly Scope[] | null }

function choiceOf(asked: string, { scopes }: WaitingRequest): Choice | null {
  if (asked === 'approve') return { outcome: 'approved', scopes }
  if (asked === 'deny') return { outcome: 'denied', scopes: null }
  const readOnly = scopes.filter(isReading)
  return asked === 'approve_read_only' && readOnly.length > 0 ? { outcome: 'read_only', scopes: readOnly } : null
}

async function decided(call: AccountFormCall, decision: Choice & { waiting: WaitingRequest }): Promise<PageAnswer> {
  const { waiting, outcome, scopes } = decision
  const grant = scopes === null ? null : await grantTo(call, { waiting, scopes })
  const server = await call.service.oauth()
  const location = await server.decide(call.request, call.response, grant)
  if (location === null) throw tooLate()
  call.service.log.info(
    {
      request_id: call.response.locals['requestId'],
      user_id: call.user.userId,
      client_id: waiting.clientId,
      grant_id: grant?.grantId,
      outcome,
    },
    'OAuth client decided',
  )
  return { location }
}

async function grantTo(
  call: AccountCall,
  { waiting, scopes }: { waiting: WaitingRequest; scopes: readonly Scope[] },
): Promise<Decision> {
  const { database, config } = call.service
  const { userId } = call.user
  const redirectHost = redirectHostOf(waiting.redirectUri)
  const { clientId, resource, clientName } = waiting
  const approval = { userId, clientId, clientName: clientName ?? redirectHost, redirectHost, scopes, resource }
  const grantId = await inTransaction(database, (tx) => createGrant({ tx, config }, approval)).catch(
    (error: unknown) => {
      throw error instanceof Refusal && error.code === 'quota_exceeded' ? tooManyTokens(config.QUOTA_TOKENS) : error
    },
  )
  return { userId, grantId }
}

function tooManyTokens(limit: number): PageRefusal {
  return new PageRefusal(409, {
    heading: 'Too many tokens',
    advice: `You can have ${limit} tokens and connected programs at a time. Revoke one under “API tokens”, then approve again.`,
  })
}

function show(call: AccountCall, waiting: WaitingRequest): { html: string; headers: Record<string, string> } {
  const html = consentView({
    title: 'Connect a program',
    account: call.account,
    csrfToken: call.csrfToken,
    action: call.request.path,
    clientName: waiting.clientName,
    publisher: publisherOf(waiting.clientId),
    redirectHost: redirectHostOf(waiting.redirectUri),
    permissions: waiting.scopes.map((scope) => scopeDescriptions[scope]),
    canBeReadOnly: waiting.scopes.some(isReading) && !waiting.scopes.every(isReading),
  })
  return { html, headers: pageHeaders({ 'form-action': `'self' https: ${redirectSource(waiting.redirectUri)}` }) }
}

// The host that vouches for the program: a client metadata document is read from the address that is the client's id.
function publisherOf(clientId: string): string | null {
  return clientId.startsWith('https://') ? (URL.parse(clientId)?.hostname ?? null) : null
}

// Where the browser goes after the decision, as a person can judge it: a host, or the kind of links of an app.
function redirectHostOf(redirectUri: string): string {
  const { protocol, hostname } = new URL(redirectUri)
  return protocol === 'https:' || protocol === 'http:' ? hostname : `${protocol}//`
}

// Some browsers apply the policy of the form to all redirects that follow it. A program on https may redirect further,
// so the whole scheme is allowed. The policy has no way to name the host [::1].
function redirectSource(redirectUri: string): string {
  const { protocol, hostname } = new URL(redirectUri)
  return protocol === 'http:' && !hostname.startsWith('[') ? `http://${hostname}:*` : protocol
}
