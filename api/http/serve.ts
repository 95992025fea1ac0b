import type { Request, Response } from 'express'
import { parseUserAgent } from '../../shared/requests/client.ts'
import { authenticate } from './authenticate.ts'
import { admit, decide, type Incoming, inTurn, pipelineOf, withData } from './pipeline.ts'
import { parseEntityTags } from './preconditions.ts'
import { negotiateContentType } from './request-headers.ts'
import { addressOf, closeSignal } from './requesters.ts'
import type { Route } from './route.ts'
import { isNotModified, send } from './send.ts'
import type { Service } from './service.ts'

/** A function that serves one request of one route. What it throws goes to the error handler of the application. */
export type Server = (request: Request, response: Response) => Promise<void>

/**
 * Makes the server of a route. Its steps are the order of checks (api/guide/requests.md#order-of-checks). The
 * dispatcher in `app.ts` has found the path and the method (404, 405) before.
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
export function server(service: Service, spec: Route): Server {
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
