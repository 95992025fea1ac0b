import type { Request, Response } from 'express'
import { Type } from 'typebox'
import { Upload } from '../../shared/attachments/upload.ts'
import { type Caller, visibleWorkspaces } from '../../shared/auth/caller.ts'
import { type Ahead, computingAhead, onTheSpot } from '../../shared/computations/ahead.ts'
import { inTransaction, type Transaction } from '../../shared/database/database.ts'
import { Refusal } from '../../shared/errors/errors.ts'
import { parseUserAgent } from '../../shared/requests/client.ts'
import { onBehalfOf } from '../../shared/turns/requester.ts'
import { recordWrite } from './audit.ts'
import { authenticate, requireScopes } from './authenticate.ts'
import { answerOnce, type KeyedRequest, keyedFingerprint, parseIdempotencyKey } from './idempotency.ts'
import { paramsReader, queryReader } from './input.ts'
import { minimalAnswer, prefersMinimal } from './minimal-answer.ts'
import { payloadReader, releaseUpload } from './payload.ts'
import { guardOf, parseEntityTags } from './preconditions.ts'
import { type RateLimitState, rateLimitHeaders } from './rate-limit.ts'
import { isRehearsal, queryOf, rehearse, requireRehearsalScopes } from './rehearsal.ts'
import { negotiateContentType, parseLastEventId } from './request-headers.ts'
import { addressOf, closeSignal, requesterOf, visitor } from './requesters.ts'
import { type Answer, bucketOf, isIdempotent, isRead, type Route, type UntypedCall } from './route.ts'
import { answerCheck, isNotModified, send, statusOf } from './send.ts'
import type { Service } from './service.ts'
import { writeContext } from './write-context.ts'

/** A function that serves one request of one route. What it throws goes to the error handler of the application. */
export type Server = (request: Request, response: Response) => Promise<void>

/**
 * Makes the server of a route. Its steps are the order of checks (api/guide/requests.md#order-of-checks). The
 * dispatcher in `app.ts` has found the path and the method (404, 405) before.
 *
 * 1. `admit`: the token is valid (401), the rate limit is kept (429), the token has the scopes (403).
 * 2. `readAnswerHeaders`: Accept (415) and If-None-Match (400).
 * 3. `readCall`: type and size of the body (415, 413); members, query and headers (400); the further scopes of a
 *    rehearsal (403); ids in the path (404).
 * 4. `answerRead` or `answerWrite`: a key that was used before (replay, 409), then the handler. The handler looks for
 *    the resources (404) and checks the role (403), the precondition (428, 409), the state (409), the content (422) and
 *    the quota.
 * 5. `send`: status, headers and envelope.
 *
 * Heavy work in steps 3 to 5 takes its turns on behalf of the caller, and ends when the client closes the connection.
 */
export function server(service: Service, spec: Route): Server {
  const pipeline = pipelineOf(service, spec)
  const checkAnswer = service.checkResponses ? answerCheck(spec) : () => {}
  return async (request, response) => {
    const exchange = { request, response }
    const caller = await admit(pipeline, exchange)
    const wanted = readAnswerHeaders(spec, request)
    const serve = async () => {
      const upload = spec.multipart === undefined ? null : new Upload(service)
      const decide = async () => {
        const received = await readCall(pipeline, { ...exchange, caller, upload })
        return isRead(spec) ? answerRead(spec, received) : answerWrite(spec, received)
      }
      const decided = await decide().finally(() => releaseUpload(service, upload))
      const answer = isNotModified(decided, wanted.ifNoneMatch) ? decided : await withData(decided)
      checkAnswer(answer)
      await send({ spec, answer, ...exchange, ...wanted })
    }
    const requester = spec.access === 'anyone' ? visitor(addressOf(request)) : requesterOf(caller)
    await onBehalfOf(requester, serve, { signal: closeSignal(response) })
  }
}

async function withData({ computeData, ...answer }: Answer): Promise<Answer> {
  return computeData === undefined ? answer : { ...answer, dataText: await computeData() }
}

/** A request and its response. */
type Exchange = { request: Request; response: Response }

/** A route with the readers that are made from its schemas, once for all its requests. */
type Pipeline = ReturnType<typeof pipelineOf>

function pipelineOf(service: Service, spec: Route) {
  return {
    service,
    spec,
    readPayload: payloadReader(service, spec),
    readQuery: queryReader(queryOf(spec)),
    readParams: paramsReader(spec.params ?? noParameters),
  }
}

const noParameters = Type.Object({})

// Step 1. Where no token is needed, the caller is `nobody`, and a call counts for the address that it comes from.
async function admit({ service, spec }: Pipeline, exchange: Exchange): Promise<Caller> {
  const { request, response } = exchange
  const bucket = bucketOf(spec)
  if (spec.access === 'anyone') {
    response.set('Cache-Control', 'no-store')
    setRateLimit(response, await service.rateLimiter.consume(bucket, addressOf(request)))
    return nobody
  }
  const caller = await identify(service, exchange)
  setRateLimit(response, await service.rateLimiter.consume(bucket, caller.tokenId, caller.userId))
  requireScopes(caller, spec.scopes)
  return caller
}

// The caller of a route that needs no token. This caller has no memberships, so nothing is visible.
const nobody: Caller = {
  tokenId: '',
  userId: '',
  email: '',
  name: '',
  scopes: [],
  expiresAt: null,
  memberships: [],
}

// Authenticates the caller. A failed authentication counts against the address, so that nobody can try many tokens.
async function identify(service: Service, { request, response }: Exchange): Promise<Caller> {
  const { database, config, rateLimiter } = service
  try {
    return await authenticate({ database, pepper: config.TOKEN_PEPPER }, request.headers.authorization)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    setRateLimit(response, await rateLimiter.consume('ip', addressOf(request)))
    throw error
  }
}

function setRateLimit(response: Response, state: RateLimitState | null): void {
  if (state !== null) response.set(rateLimitHeaders(state))
}

// Step 2: the headers that say how the client wants its answer.
function readAnswerHeaders(spec: Route, request: Request) {
  return {
    contentType: negotiateContentType(request, spec.answerTypes),
    ifNoneMatch: spec.conditional ? parseEntityTags(request.get('if-none-match'), { name: 'If-None-Match' }) : null,
  }
}

/**
 * A request that was read. `keyed` is null where the request has no Idempotency-Key. `isMinimal` says that the caller
 * prefers the smallest answer to a write.
 */
type Received = { call: ReceivedCall; path: string; keyed: KeyedRequest | null; isMinimal: boolean }

type ReceivedCall = Omit<UntypedCall, 'prepared' | 'tx' | 'ahead' | 'write'>

// Step 3: everything that the handler gets, read in the order of checks.
async function readCall(
  pipeline: Pipeline,
  { request, response, caller, upload }: Exchange & { caller: Caller; upload: Upload | null },
): Promise<Received> {
  const { service, spec } = pipeline
  const { searchParams } = new URL(request.url, 'http://service')
  const payload =
    spec.method === 'GET' ? noPayload : await pipeline.readPayload({ request, response, upload, query: searchParams })
  const query = pipeline.readQuery(searchParams) as UntypedCall['query']
  const guard = guardOf(request.headers['if-match'], spec)
  const key = isIdempotent(spec) && !isRehearsal(query) ? parseIdempotencyKey(request.get('idempotency-key')) : null
  const lastEventId = spec.stream ? parseLastEventId(request.headers['last-event-id']) : null
  // Only the query says that a write is a rehearsal, so the further scopes of a rehearsal are checked behind every 400.
  if (isRehearsal(query)) requireRehearsalScopes(spec, caller)
  // The path is read last, because every 400 comes before a 404. A malformed id is a 404: the id names nothing that
  // exists.
  const params = pipeline.readParams(request.params as Record<string, string>) as UntypedCall['params']
  const call = {
    service,
    caller,
    address: addressOf(request),
    requestId: response.locals['requestId'] as string,
    client: parseUserAgent(request.headers['user-agent']),
    endpoint: `${spec.method} ${spec.path}`,
    params,
    query,
    body: payload.body as UntypedCall['body'],
    guard,
    mediaType: payload.mediaType,
    file: upload?.received ?? null,
    lastEventId,
    db: service.database,
  }
  const path = new URL(request.originalUrl, 'http://service').pathname
  const keyed = keyedRequest(call, { spec, path, key, fingerprint: payload.fingerprint })
  return { call, path, keyed, isMinimal: prefersMinimal(request.headers.prefer) }
}

const noPayload = { body: {}, mediaType: null, fingerprint: null }

function keyedRequest(
  { service, caller }: ReceivedCall,
  repeatable: { spec: Route; path: string; key: string | null; fingerprint: Uint8Array | null },
): KeyedRequest | null {
  const { spec, path, key, fingerprint } = repeatable
  if (key === null || fingerprint === null) return null
  return {
    scope: { tokenId: caller.tokenId, method: spec.method, path, key },
    fingerprint: keyedFingerprint(service.config.TOKEN_PEPPER, fingerprint),
    lifetimeHours: service.config.IDEMPOTENCY_TTL_HOURS,
  }
}

// Step 4 of a read. Only a POST has a key. Its answer is read before the transaction that looks for a remembered
// answer, because a read may wait for a turn, and nobody waits for a turn with a connection in hand.
async function answerRead(spec: Route, { call, keyed }: Received): Promise<Answer> {
  const answer = await spec.handle({ ...outsideTransaction(call), prepared: await prepare(spec, call) })
  if (keyed === null) return answer
  const read = async () => ({ ...answer, status: statusOf(spec, answer) })
  return inTransaction(call.service.database, (tx) => answerOnce(answerContext(call, tx), keyed, read))
}

// Step 4 of a write: the handler, the record of the key and the audit entry are one transaction.
async function answerWrite(spec: Route, { call, path, keyed, isMinimal }: Received): Promise<Answer> {
  const prepared = await prepare(spec, call)
  const write = async (tx: Transaction, ahead: Ahead) => {
    const context = writeContext({ ...call, tx, ahead })
    const handled = await spec.handle({ ...call, db: tx, tx, ahead, write: context, prepared })
    if (spec.access !== 'anyone') recordWrite(tx, { spec, path, call, answer: handled })
    const answer = { ...handled, status: statusOf(spec, handled) }
    return isMinimal ? minimalAnswer(spec, answer) : answer
  }
  const writeOnce = (tx: Transaction, ahead: Ahead) =>
    keyed === null ? write(tx, ahead) : answerOnce(answerContext(call, tx), keyed, () => write(tx, ahead))
  if (spec.rehearsal !== undefined && isRehearsal(call.query)) return rehearse(spec.rehearsal, { call, write })
  return computingAhead((ahead) => inTransaction(call.service.database, (tx) => writeOnce(tx, ahead)))
}

function answerContext({ caller }: ReceivedCall, tx: Transaction): Parameters<typeof answerOnce>[0] {
  return { tx, visible: (workspaceId) => visibleWorkspaces(caller).includes(workspaceId) }
}

/**
 * Runs the `prepare` of a route before the transaction of a write is opened. The handler gets the result from
 * `call.prepared()`. A refusal of `prepare` is kept and thrown by `call.prepared()`, which the handler calls after its
 * checks of visibility and state. So the order of checks stays as documented.
 */
async function prepare(spec: Route, call: ReceivedCall): Promise<() => unknown> {
  try {
    const value = await spec.prepare?.(outsideTransaction(call))
    return () => value
  } catch (error) {
    return () => {
      throw error
    }
  }
}

function outsideTransaction(call: ReceivedCall) {
  return { ...call, tx: call.db, ahead: onTheSpot, write: null }
}
