import cors from 'cors'
import express, { type Express, type NextFunction, type Request, type Response } from 'express'
import helmet, { type HelmetOptions } from 'helmet'
import { Refusal } from '../shared/errors/errors.ts'
import { newId } from '../shared/schema/ids.ts'
import { asRefusal, errorBody, logFailure } from './http/errors.ts'
import { rateLimitHeaderNames } from './http/rate-limit.ts'
import { ClientGone } from './http/requesters.ts'
import { apiPrefix } from './http/route.ts'
import { apiRouter } from './http/serve.ts'
import type { Service } from './http/service.ts'
import { mcpRouter } from './mcp/endpoint.ts'
import { oauthRouter } from './oauth/router.ts'
import { originRouter } from './operations/origin.ts'
import { sendErrorPage, wantsErrorPage } from './pages/error-page.ts'
import { pages } from './pages/pages.ts'
import { PageRefusal } from './pages/refusals.ts'
import { pageRouter } from './pages/router.ts'
import { routes } from './routes/routes.ts'

/**
 * Builds the Express application: the pages, the paths beside the API, and the route table. The application does not
 * listen yet.
 */
export function createApp(service: Service): Express {
  const app = express()
  // The service makes its own ETags. Express would add weak ETags and answer 304 by other rules.
  app.set('etag', false)
  Object.defineProperty(app.request, 'fresh', { value: false })
  app.set('x-powered-by', false)
  app.set('case sensitive routing', true)
  app.set('strict routing', true)
  app.set('query parser', false)
  app.set('trust proxy', service.config.TRUST_PROXY)
  app.use((request, response, next) => {
    const path = pathOf(request.url)
    if (path === request.url) next()
    else {
      request.url = path
      request.originalUrl = path
      app(request, response)
    }
  })
  app.use(identifyRequest)
  app.use(logRequest(service))
  app.use(requirePath)
  app.use(helmet(securityHeaders(service.config.PUBLIC_ORIGIN)))
  app.use(cors({ ...corsOptions, origin: allowedOrigins(service.config.CORS_ALLOWED_ORIGINS) }))
  app.use(apiPrefix, apiRouter(service, routes))
  app.use(mcpRouter(service, routes))
  app.use(originRouter(service, routes))
  app.use(oauthRouter(service))
  app.use(pageRouter(service, pages))
  app.use(() => {
    throw new Refusal('route_not_found')
  })
  app.use(answerError(service))
  return app
}

// The options of the library helmet, which sets security headers. The headers tell browsers to use TLS only if the
// service itself is reached over TLS.
function securityHeaders(publicOrigin: string): HelmetOptions {
  if (publicOrigin.startsWith('https://')) return {}
  return {
    strictTransportSecurity: false,
    contentSecurityPolicy: { directives: { upgradeInsecureRequests: null } },
  }
}

const corsOptions = {
  credentials: false,
  preflightContinue: true,
  maxAge: 86_400,
  exposedHeaders: [
    'Content-Disposition',
    'ETag',
    'Location',
    'Retry-After',
    'X-Request-Id',
    ...rateLimitHeaderNames,
    'Idempotent-Replayed',
    'Dry-Run',
    'Preference-Applied',
    'Deprecation',
    'Sunset',
    'Link',
    'WWW-Authenticate',
  ],
}

function allowedOrigins(origins: readonly string[]): '*' | string[] {
  return origins.includes('*') ? '*' : [...origins]
}

// Paths that monitoring asks for every few seconds. The log lines of these paths would hide all other lines, so they
// have the level debug.
const probes = new Set(['/healthz', '/readyz', '/metrics'])

function identifyRequest(request: Request, response: Response, next: NextFunction): void {
  const given = request.get('x-request-id')
  const requestId = given !== undefined && /^[A-Za-z0-9._-]{1,128}$/.test(given) ? given : newId('req')
  response.locals['requestId'] = requestId
  response.set('X-Request-Id', requestId)
  next()
}

// The path of a request line that names a whole URL, which every server has to accept (RFC 9112, 3.2.2).
function pathOf(target: string): string {
  const url = /^https?:\/\//i.test(target) ? URL.parse(target) : null
  return url === null ? target : url.pathname + url.search
}

// Refuses a request line that names neither a path nor a URL with a path. Parsing it later would end in a 500.
function requirePath(request: Request, _response: Response, next: NextFunction): void {
  if (!request.url.startsWith('/')) {
    const fields = [{ path: '/', message: 'the request line must name a path that begins with /' }]
    throw new Refusal('invalid_request', { details: { fields } })
  }
  next()
}

function logRequest(service: Service) {
  // The logger does not look for secrets in the line of a request. The line never has a secret, and the look would cost
  // as much as the line itself.
  const log = service.log.child({}, { redact: [] })
  return (request: Request, response: Response, next: NextFunction): void => {
    const start = performance.now()
    response.on('close', () => {
      const milliseconds = performance.now() - start
      const route = (response.locals['route'] as string | undefined) ?? 'none'
      const { method } = request
      const status = response.statusCode
      service.metrics.observe({ method, route, status, seconds: milliseconds / 1000 })
      log[probes.has(route) ? 'debug' : 'info'](
        { request_id: response.locals['requestId'], method, route, status, ms: Math.round(milliseconds * 10) / 10 },
        'request',
      )
    })
    next()
  }
}

function answerError(service: Service) {
  const { PUBLIC_ORIGIN: origin } = service.config
  return (error: unknown, request: Request, response: Response, next: NextFunction): void => {
    const requestId = response.locals['requestId'] as string
    // The client is gone, so there is nobody to answer.
    if (error instanceof ClientGone) return
    if (error instanceof PageRefusal && !response.headersSent) {
      sendErrorPage({ service, request, response }, error).catch(next)
      return
    }
    // A path that cannot be decoded names no resource, so the answer is 404.
    const refusal = error instanceof URIError ? new Refusal('route_not_found') : asRefusal(error)
    if (refusal.status >= 500) logFailure(service.log, { request_id: requestId, refusal })
    if (refusal.details?.['bucket'] === 'concurrency')
      for (const name of rateLimitHeaderNames) response.removeHeader(name)
    // A part of the answer was sent already. Only a cut connection tells the client that the answer is not complete.
    if (response.headersSent) response.destroy()
    else if (wantsErrorPage(request, response)) sendErrorPage({ service, request, response }, refusal).catch(next)
    else response.set(refusal.headers).status(refusal.status).json(errorBody(refusal, { requestId, origin }))
  }
}
