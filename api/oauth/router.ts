import { type Request, type RequestHandler, type Response, Router } from 'express'
import { redirectUriOfCode } from '../../shared/auth/oauth/artifacts.ts'
import { findClient } from '../../shared/auth/oauth/clients.ts'
import { hasGrant } from '../../shared/auth/oauth/grants.ts'
import { oauthPaths } from '../../shared/auth/oauth/paths.ts'
import { findSession, isBrowserId } from '../../shared/auth/sessions.ts'
import { Refusal } from '../../shared/errors/errors.ts'
import { asRefusal } from '../http/errors.ts'
import { jsonTextReader } from '../http/payload.ts'
import { addressOf, ClientGone } from '../http/requesters.ts'
import type { Service } from '../http/service.ts'
import { cookieOf } from '../pages/cookies.ts'
import { pageHeaders } from '../pages/headers.ts'
import { SiteUnavailableError } from './client-documents.ts'
import { wellKnownDocuments } from './metadata.ts'
import { authorizationQuery, registrationBody, withResource } from './parameters.ts'

const formType = 'application/x-www-form-urlencoded'
// The most bytes of a body. Whoever sends it has shown no token.
const readBody = jsonTextReader(16_384)

/** An endpoint for programs: the media type of its body, and the body that the library gets. */
type Endpoint = { path: string; mediaType: string; body: (text: string) => string | Promise<string> }

/**
 * Serves the authorization server of the service (OAuth 2.1) and the documents by which clients discover it. Which
 * pages of other origins may read the answers is settled for the whole application (CORS_ALLOWED_ORIGINS).
 */
export function oauthRouter(service: Service): Router {
  const { PUBLIC_ORIGIN: origin } = service.config
  const router = Router({ caseSensitive: true, strict: true })
  for (const [path, document] of Object.entries(wellKnownDocuments(origin))) {
    router.all(path, documentHandler(path, document))
  }
  const exchangeBody = async (text: string) => {
    const parameters = withResource(new URLSearchParams(text), origin)
    // OAuth 2.1 has no redirect URI here, since PKCE ties a code to its program. The library still compares it.
    if (parameters.get('grant_type') === 'authorization_code' && !parameters.has('redirect_uri')) {
      const { database: db, config } = service
      const uri = await redirectUriOfCode({ db, config }, parameters.get('code') ?? '')
      if (uri !== null) parameters.set('redirect_uri', uri)
    }
    return parameters.toString()
  }
  const endpoints: readonly Endpoint[] = [
    { path: oauthPaths.token, mediaType: formType, body: exchangeBody },
    { path: oauthPaths.revoke, mediaType: formType, body: (text) => text },
    { path: oauthPaths.register, mediaType: 'application/json', body: registrationBody },
  ]
  for (const endpoint of endpoints) router.all(endpoint.path, endpointHandler(service, endpoint))
  router.all(oauthPaths.authorize, pageHandler(service, oauthPaths.authorize))
  router.all(`${oauthPaths.authorize}/:id`, pageHandler(service, `${oauthPaths.authorize}/{id}`))
  return router
}

function documentHandler(path: string, document: object): RequestHandler {
  return (request, response) => {
    response.locals['route'] = path
    if (isAnswered(request, response, ['GET', 'HEAD'])) return
    response.set('Cache-Control', 'public, max-age=300').json(document)
  }
}

// An endpoint for programs. Its errors have the form of RFC 6749, section 5.2.
function endpointHandler(service: Service, { path, mediaType, body }: Endpoint): RequestHandler {
  const answer = async (request: Request, response: Response): Promise<void> => {
    response.set('Cache-Control', 'no-store')
    if (isAnswered(request, response, ['POST'])) return
    const address = addressOf(request)
    await service.rateLimiter.consume('ip', address)
    if (path === oauthPaths.register) await service.throttles.count('oauth-registration', address)
    const { text } = await readBody(request, response, [mediaType])
    const server = await service.oauth()
    await server.serve(request, response, { url: path, body: await body(text) })
  }
  return async (request, response) => {
    response.locals['route'] = path
    await answer(request, response).catch((error: unknown) => sendError(service, response, error))
  }
}

// The endpoint that a browser visits, and the path on which it goes on after the decision. Its errors are pages.
function pageHandler(service: Service, route: string): RequestHandler {
  return async (request, response) => {
    Object.assign(response.locals, { route, isPage: true })
    response.set(pageHeaders())
    if (isAnswered(request, response, ['GET'])) return
    await service.rateLimiter.consume('ip', addressOf(request))
    const { pathname, searchParams } = new URL(request.url, 'http://service')
    const isBegin = pathname === oauthPaths.authorize
    const registered = isBegin ? await registeredScopes(service, searchParams.get('client_id') ?? '') : null
    const query = authorizationQuery(searchParams, { origin: service.config.PUBLIC_ORIGIN, registered })
    const isConnected = isBegin && (await isConnectedProgram(service, request, query.get('client_id') ?? ''))
    const server = await service.oauth()
    await server.serve(request, response, { url: isBegin ? `${pathname}?${query}` : pathname, body: '', isConnected })
  }
}

async function registeredScopes({ database }: Service, clientId: string): Promise<string[] | null> {
  const { scope } = (await findClient(database, clientId)) ?? {}
  return typeof scope === 'string' ? scope.split(' ') : null
}

// Whether the person who is signed in in this browser has let the program in.
async function isConnectedProgram(service: Service, request: Request, clientId: string): Promise<boolean> {
  const { config, database: db } = service
  const id = cookieOf({ request, config }, 'svc_session') ?? ''
  const user = isBrowserId(id) ? await findSession({ db, secret: config.SESSION_SECRET }, id) : null
  return user !== null && hasGrant(db, { userId: user.userId, clientId })
}

// Answers OPTIONS, and refuses methods that are not allowed.
function isAnswered(request: Request, response: Response, methods: readonly string[]): boolean {
  const allow = [...methods, 'OPTIONS']
  if (request.method === 'OPTIONS') {
    response.set('Allow', allow.join(', ')).status(204).end()
    return true
  }
  if (methods.includes(request.method)) return false
  throw new Refusal('method_not_allowed', { details: { allow }, headers: { Allow: allow.join(', ') } })
}

function sendError(service: Service, response: Response, error: unknown): void {
  if (error instanceof ClientGone) return
  const refusal = asRefusal(error)
  const { status, headers, message } = refusal
  if (status >= 500) {
    // The outage of a program's site is no fault of the service.
    const level = refusal.cause instanceof SiteUnavailableError ? 'info' : 'error'
    const { requestId } = response.locals
    service.log[level]({ request_id: requestId, err: refusal.cause ?? refusal }, 'request failed')
  }
  if (response.headersSent) {
    response.destroy()
    return
  }
  response
    .set(headers)
    .status(status)
    .json({ error: errorCodeOf(status), error_description: message })
}

function errorCodeOf(status: number): string {
  if (status === 429 || status === 503) return 'temporarily_unavailable'
  return status >= 500 ? 'server_error' : 'invalid_request'
}
