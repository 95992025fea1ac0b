import type { Request, Response } from 'express'
import { type TObject, type TSchema, Type } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'
import { Upload } from '../../shared/attachments/upload.ts'
import { type Caller, visibleWorkspaces } from '../../shared/auth/caller.ts'
import { type Ahead, computingAhead, onTheSpot } from '../../shared/computations/ahead.ts'
import { inTransaction, type Transaction } from '../../shared/database/database.ts'
import { Refusal } from '../../shared/errors/errors.ts'
import { parseUserAgent } from '../../shared/requests/client.ts'
import { insertAuditEntry } from '../../shared/requests/queries.ts'
import { onBehalfOf } from '../../shared/turns/requester.ts'
import { authenticate, requireScopes } from './authenticate.ts'
import { answerOnce, parseIdempotencyKey } from './idempotency.ts'
import { paramsReader, queryReader } from './input.ts'
import { payloadReader, releaseUpload } from './payload.ts'
import { entityTagOf, parseGuard, satisfies } from './preconditions.ts'
import { rateLimitHeaders } from './rate-limit.ts'
import { negotiateContentType, parseLastEventId } from './request-headers.ts'
import { addressOf, closeSignal, requesterOf, visitor } from './requesters.ts'
import { type Answer, bucketOf, isIdempotent, type Route, type UntypedCall } from './route.ts'
import type { Service } from './service.ts'

/** Serves one request of one route; a thrown value goes to the error handler of the application. */
export type Server = (request: Request, response: Response) => Promise<void>

/**
 * Makes the server of a route: the checks in the order of decisions 2.0, then the handler, then the envelope. Handlers
 * of writes run in one transaction together with the idempotency record and the audit entry.
 */
export function server(service: Service, spec: Route): Server {
  const steps = {
    readPayload: payloadReader(service, spec),
    readQuery: queryReader(spec.query ?? none),
    readParams: paramsReader(spec.params ?? none),
    check: service.checkResponses ? responseCheck(spec) : () => {},
  }

  return async (request, response) => {
    const address = addressOf(request)
    const isOpen = spec.access === 'anyone'
    if (isOpen) response.set('Cache-Control', 'no-store')
    const caller = isOpen ? nobody : await identify(service, { request, response })
    const { rateLimiter } = service
    const limit = isOpen
      ? await rateLimiter.consume(bucketOf(spec), address)
      : await rateLimiter.consume(bucketOf(spec), caller.tokenId, caller.userId)
    if (limit !== null) response.set(rateLimitHeaders(limit))
    requireScopes(caller, spec.scopes)
    const isWrite = spec.method !== 'GET'
    const contentType = negotiateContentType(request, spec.answerTypes)
    const ifNoneMatch = spec.conditional ? parseGuard(request.get('if-none-match'), { name: 'If-None-Match' }) : null
    const upload = spec.multipart === undefined ? null : new Upload(service)
    const decide = async () => {
      const query = new URL(request.url, 'http://service').searchParams
      const { body, mediaType, fingerprint } = isWrite
        ? await steps.readPayload({ request, response, upload, query })
        : { body: {}, mediaType: null, fingerprint: null }
      const received = {
        body: body as UntypedCall['body'],
        query: steps.readQuery(query) as UntypedCall['query'],
        guard: spec.guard === undefined ? null : parseGuard(request.headers['if-match'], { form: spec.versionForm }),
      }
      const key = isIdempotent(spec) ? parseIdempotencyKey(request.get('idempotency-key')) : null
      const call: Omit<UntypedCall, 'prepared' | 'tx' | 'ahead'> = {
        ...received,
        // Last, since a malformed id is one that does not exist: every 400 comes before a 404.
        params: steps.readParams(request.params as Record<string, string>) as UntypedCall['params'],
        service,
        caller,
        address,
        requestId: response.locals['requestId'] as string,
        client: parseUserAgent(request.headers['user-agent']),
        endpoint: `${spec.method} ${spec.path}`,
        mediaType,
        file: upload?.received ?? null,
        lastEventId: spec.stream ? parseLastEventId(request.headers['last-event-id']) : null,
        db: service.database,
      }
      return isWrite ? answerWrite({ spec, call, request, key, fingerprint }) : answerRead(spec, call)
    }
    const serve = async () => {
      const answer = await decide().finally(() => releaseUpload(service, upload))
      steps.check(answer)
      await send({ spec, answer, request, response, ifNoneMatch, contentType })
    }
    await onBehalfOf(isOpen ? visitor(address) : requesterOf(caller), serve, closeSignal(response))
  }
}

const none = Type.Object({})

// Who calls where no token is needed; without memberships nothing is visible.
const nobody: Caller = {
  tokenId: '',
  userId: '',
  email: '',
  name: '',
  scopes: [],
  expiresAt: null,
  memberships: [],
}

// A failed authentication counts against the address, so that nobody can try tokens at leisure.
async function identify(service: Service, exchange: { request: Request; response: Response }): Promise<Caller> {
  const { request, response } = exchange
  try {
    return await authenticate(
      { database: service.database, pepper: service.config.TOKEN_PEPPER },
      request.headers.authorization,
    )
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const limit = await service.rateLimiter.consume('ip', addressOf(request))
    if (limit !== null) response.set(rateLimitHeaders(limit))
    throw error
  }
}

async function answerRead(spec: Route, call: Omit<UntypedCall, 'prepared' | 'tx' | 'ahead'>): Promise<Answer> {
  const unwritten = { ...call, tx: call.db, ahead: onTheSpot }
  const prepared = await settle(() => spec.prepare?.(unwritten))
  return spec.handle({ ...unwritten, prepared })
}

async function answerWrite(input: {
  spec: Route
  call: Omit<UntypedCall, 'prepared' | 'tx' | 'ahead'>
  request: Request
  key: string | null
  fingerprint: Uint8Array | null
}): Promise<Answer> {
  const { spec, call, request, key, fingerprint } = input
  const { service, caller } = call
  const prepared = await settle(() => spec.prepare?.({ ...call, tx: call.db, ahead: onTheSpot }))
  const run = async (tx: Transaction, ahead: Ahead) => {
    const answer = await spec.handle({ ...call, db: tx, tx, ahead, prepared })
    if (spec.access !== 'anyone') await audit(tx, { call, request })
    return { ...answer, status: answer.status ?? spec.success[0]?.status ?? 200 }
  }
  const runOnce = (tx: Transaction, ahead: Ahead) => {
    if (key === null || fingerprint === null) return run(tx, ahead)
    const scope = { tokenId: caller.tokenId, method: spec.method, path: pathOf(request), key }
    const keyed = { scope, fingerprint: Buffer.from(fingerprint), lifetimeHours: service.config.IDEMPOTENCY_TTL_HOURS }
    const visible = (workspaceId: string) => visibleWorkspaces(caller).includes(workspaceId)
    return answerOnce({ tx, visible }, keyed, () => run(tx, ahead))
  }
  return computingAhead((ahead) => inTransaction(service.database, (tx) => runOnce(tx, ahead)))
}

async function audit(
  tx: Transaction,
  input: { call: Pick<UntypedCall, 'caller' | 'requestId' | 'client'>; request: Request },
): Promise<void> {
  const { caller, client, requestId } = input.call
  await insertAuditEntry(tx, {
    requestId,
    tokenId: caller.tokenId,
    userId: caller.userId,
    method: input.request.method,
    path: pathOf(input.request),
    clientName: client.name,
    clientVersion: client.version,
    isAgent: client.isAgent,
  })
}

// What `prepare` refuses is kept until the handler asks for it: visibility and state are checked before content.
async function settle<T>(work: () => Promise<T> | undefined): Promise<() => T | undefined> {
  try {
    const value = await work()
    return () => value
  } catch (error) {
    return () => {
      throw error
    }
  }
}

function pathOf(request: Request): string {
  return new URL(request.originalUrl, 'http://service').pathname
}

async function send(input: {
  spec: Route
  answer: Answer
  request: Request
  response: Response
  ifNoneMatch: ReturnType<typeof parseGuard>
  contentType: string | null
}): Promise<void> {
  const { spec, answer, response, ifNoneMatch, contentType } = input
  if (answer.etag != null) response.set('ETag', entityTagOf(answer.etag))
  if (answer.location != null) response.set('Location', answer.location)
  if (answer.headers !== undefined) response.set(answer.headers)
  if (contentType !== null) response.set('Content-Type', contentType)
  if (ifNoneMatch !== null && answer.etag != null && satisfies(ifNoneMatch, answer.etag)) {
    response.status(304).end()
    return
  }
  const status = answer.status ?? spec.success[0]?.status ?? 200
  const media = spec.success.find((success) => success.status === status)?.media
  if (media !== undefined) response.status(status).type(media)
  if (status === 204 || (media !== undefined && input.request.method === 'HEAD')) response.status(status).end()
  else if (answer.write !== undefined) await answer.write(response)
  else sendEnvelope(response.status(status), answer)
}

// What a thread wrote as JSON goes into the envelope as it is: reading it again would hold the event loop.
function sendEnvelope(response: Response, answer: Answer): void {
  const requestId = response.locals['requestId'] as string
  if (answer.dataText === undefined) {
    response.json(envelope(answer, requestId))
    return
  }
  const others = JSON.stringify(envelope(answer, requestId)).slice(1)
  if (!response.get('Content-Type')) response.type('json')
  response.send(`{"data":${answer.dataText},${others}`)
}

function envelope(answer: Answer, requestId: string): object {
  return {
    data: answer.data,
    ...(answer.page !== undefined && { page: answer.page }),
    ...answer.members,
    request_id: requestId,
  }
}

// Only where the tests ask for it: the declared shape is a promise to clients, and this is where it can be broken.
function responseCheck(spec: Route): (answer: Answer) => void {
  return (answer) => {
    const status = answer.status ?? spec.success[0]?.status ?? 200
    const success = spec.success.find((declared) => declared.status === status)
    if (success === undefined) throw new Error(`${spec.operationId} does not declare status ${status}`)
    const validator = validatorOf(success)
    const text = answer.dataText ?? JSON.stringify(answer.data)
    const data: unknown = text === undefined ? undefined : JSON.parse(text)
    if (validator === null ? data === undefined : validator.Check(data)) return
    const problems = validator
      ?.Errors(data)
      .slice(0, 3)
      .map((error) => `${error.instancePath} ${error.message}`)
    throw new Error(`${spec.operationId} answered against its schema: ${problems?.join('; ') ?? 'data without schema'}`)
  }
}

// Compiled at the first such answer, for all services of the process: tests start many and call few routes of each.
function validatorOf(success: Success): Validator | null {
  let validator = validators.get(success)
  if (validator === undefined) {
    validator = success.data === null ? null : Compile(dataSchema(success))
    validators.set(success, validator)
  }
  return validator
}

type Success = Route['success'][number]

const validators = new WeakMap<Success, Validator | null>()

function dataSchema(success: { data: TSchema | null; list?: boolean }): TSchema | TObject {
  const data = success.data ?? Type.Null()
  return success.list ? Type.Array(data) : data
}
