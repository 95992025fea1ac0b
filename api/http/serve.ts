import { type Request, type RequestHandler, type Response, Router } from 'express'
import { Refusal } from '../../shared/errors/errors.ts'
import { parseUserAgent } from '../../shared/requests/client.ts'
import { authenticate } from './authenticate.ts'
import { admit, decide, type Incoming, inTurn, pipelineOf, withData } from './pipeline.ts'
import { parseEntityTags } from './preconditions.ts'
import { negotiateContentType } from './request-headers.ts'
import { addressOf, closeSignal } from './requesters.ts'
import type { Method, Route } from './route.ts'
import { isNotModified, send } from './send.ts'
import type { Service } from './service.ts'

/** A function that serves one request of one route. What it throws goes to the error handler of the application. */
type Server = (request: Request, response: Response) => Promise<void>

/**
 * Makes the router of a table of routes. Express tries the patterns of a router in turn. Each first segment of a path
 * has a router of its own, so that Express tries only a few patterns for a request. A path without parameters comes
 * first: `/documents/read` is no document.
 */
export function apiRouter(service: Service, table: readonly Route[]): RequestHandler {
  const segments = new Map<string, Router>()
  const hasParameters = (path: string) => Number(path.includes('{'))
  const paths = [...Map.groupBy(table, (spec) => spec.path)].sort(([a], [b]) => hasParameters(a) - hasParameters(b))
  for (const [path, specs] of paths) {
    const [, first = ''] = path.split('/')
    const router = segments.get(first) ?? Router({ caseSensitive: true, strict: true })
    segments.set(first, router)
    router.all(path.replaceAll(/\{(\w+)\}/g, ':$1'), dispatcher(service, specs))
  }
  return (request, response, next) => {
    const [, first = ''] = request.path.split('/')
    const router = segments.get(first)
    if (router === undefined) next()
    else router(request, response, next)
  }
}

// Finds the route by the method of a request. Express could find the route too. But the answers to OPTIONS and with 405
// list the methods of a path, which Express does not know.
function dispatcher(service: Service, specs: readonly Route[]): Server {
  const servers = new Map<string, { spec: Route; serve: Server }>(
    specs.map((spec) => [spec.method satisfies Method, { spec, serve: server(service, spec) }]),
  )
  const get = servers.get('GET')
  if (get !== undefined && !get.spec.stream) servers.set('HEAD', get)
  const allow = [...servers.keys(), 'OPTIONS']
  return async (request, response) => {
    if (request.method === 'OPTIONS') {
      response.set('Allow', allow.join(', ')).status(204).end()
      return
    }
    const target = servers.get(request.method)
    if (target === undefined) {
      throw new Refusal('method_not_allowed', { details: { allow }, headers: { Allow: allow.join(', ') } })
    }
    response.locals['route'] = target.spec.path
    response.vary('Authorization')
    if (target.spec.method === 'GET') response.set('Cache-Control', 'private, no-cache')
    await target.serve(request, response)
  }
}

/**
 * Makes the server of a route. Its steps are the order of checks (api/guide/requests.md#order-of-checks). The
 * dispatcher has found the path and the method (404, 405) before.
 *
 * 1. `admit`: the token is valid (401), the rate limit is kept (429), the token has the scopes (403).
 * 2. `readAnswerHeaders`: Accept (415) and If-None-Match (400).
 * 3. `decide` reads the call: type and size of the body (415, 413); members, query and headers (400); the further
 *    scopes of a rehearsal (403); ids in the path (404).
 * 4. `decide` answers the call: a key that was used before (replay, 409), then the handler. The handler looks for the
 *    resources (404) and checks the role (403), the precondition (428, 409), the state (409), the content (422) and the
 *    quota.
 * 5. `send`: status, headers and envelope.
 *
 * Heavy work in steps 3 to 5 takes its turns on behalf of the caller, and ends when the client closes the connection.
 */
function server(service: Service, spec: Route): Server {
  const pipeline = pipelineOf(service, spec)
  return async (request, response) => {
    const incoming = incomingOf(service, { request, response })
    const caller = await admit(pipeline, incoming)
    const wanted = readAnswerHeaders(spec, request)
    const admitted = { ...incoming, caller }
    await inTurn(pipeline, admitted, async () => {
      const decided = await decide(pipeline, admitted)
      const answer = isNotModified(decided, wanted.ifNoneMatch) ? decided : await withData(decided)
      pipeline.checkAnswer(answer)
      await send({ spec, answer, request, response, ...wanted })
    })
  }
}

function incomingOf(service: Service, { request, response }: { request: Request; response: Response }) {
  const { headers } = request
  return {
    identify: () => authenticate(service, { authorization: headers.authorization, resource: 'api' }),
    address: addressOf(request),
    requestId: response.locals['requestId'] as string,
    client: parseUserAgent(headers['user-agent']),
    headers,
    path: new URL(request.originalUrl, 'http://service').pathname,
    params: request.params as Record<string, string>,
    query: new URL(request.url, 'http://service').searchParams,
    body: { request, response },
    setHeaders: (further: Record<string, string>) => void response.set(further),
    signal: closeSignal(response),
  } satisfies Incoming
}

// Step 2: the headers that say how the client wants its answer.
function readAnswerHeaders(spec: Route, request: Request) {
  return {
    contentType: negotiateContentType(request, spec.answerTypes),
    ifNoneMatch: spec.conditional ? parseEntityTags(request.get('if-none-match'), { name: 'If-None-Match' }) : null,
  }
}
