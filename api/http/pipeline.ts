import type { IncomingHttpHeaders } from 'node:http'
import { Type } from 'typebox'
import { Upload } from '../../shared/attachments/upload.ts'
import { insertAuditEntries } from '../../shared/audit/audit.ts'
import { type Caller, visibleWorkspaces } from '../../shared/auth/caller.ts'
import { type Ahead, computingAhead, onTheSpot } from '../../shared/computations/ahead.ts'
import { inTransaction, type Transaction } from '../../shared/database/database.ts'
import { Refusal } from '../../shared/errors/errors.ts'
import type { Client } from '../../shared/requests/client.ts'
import { onBehalfOf } from '../../shared/turns/requester.ts'
import { Turns } from '../../shared/turns/turns.ts'
import { requireScopes } from './authenticate.ts'
import { answerOnce, type KeyedRequest, keyedFingerprint, parseIdempotencyKey } from './idempotency.ts'
import { paramsReader, queryReader } from './input.ts'
import { minimalAnswer, prefersMinimal } from './minimal-answer.ts'
import { type BodySource, payloadReader, releaseUpload } from './payload.ts'
import { guardOf } from './preconditions.ts'
import { type RateLimitState, rateLimitHeaders } from './rate-limit.ts'
import { isRehearsal, queryOf, rehearse, requireRehearsalScopes } from './rehearsal.ts'
import { parseLastEventId } from './request-headers.ts'
import { type Answer, bucketOf, isIdempotent, isRead, type Route, type UntypedCall } from './route.ts'
import { answerCheck, statusOf } from './send.ts'
import type { Service } from './service.ts'
import { writeContext } from './write-context.ts'

/** A call of a route before its checks, whether it came as a request of its own or from a tool of the MCP endpoint. */
export type Incoming = {
  /** Finds the caller. Refuses with 401 when the caller is unknown. */
  identify: () => Promise<Caller>
  /** The address of the caller, in the form in which rate limits count it. */
  address: string
  requestId: string
  /** The name and version of the calling program. */
  client: Client
  /** The headers of the call that say something to the route; their names are in lower case. */
  headers: IncomingHttpHeaders
  /** The path below the origin, with the values of its parameters. */
  path: string
  params: Record<string, string>
  query: URLSearchParams
  body: BodySource
  /** Sets headers of the response, which is not sent yet. */
  setHeaders: (headers: Record<string, string>) => void
  /** Aborts with `ClientGone` when nobody waits for the answer any more. */
  signal: AbortSignal
}

/** A route with the readers that are made from its schemas, once for all its calls. */
export type Pipeline = ReturnType<typeof pipelineOf>

/** Makes the pipeline of a route, for `admit` and `decide`. */
export function pipelineOf(service: Service, spec: Route) {
  return {
    service,
    spec,
    readPayload: payloadReader(service, spec),
    readQuery: queryReader(queryOf(spec)),
    readParams: paramsReader(spec.params ?? noParameters),
    checkAnswer: service.checkResponses ? answerCheck(spec) : () => {},
  }
}

const noParameters = Type.Object({})

/**
 * Finds the caller (401), counts the call (429) and checks the scopes of the token (403). Where no token is needed, the
 * caller is `nobody`, and the call counts for the address that it comes from.
 */
export async function admit({ service, spec }: Pipeline, incoming: Incoming): Promise<Caller> {
  const bucket = bucketOf(spec)
  if (spec.access === 'anyone') {
    incoming.setHeaders({ 'Cache-Control': 'no-store' })
    showRateLimit(incoming, await service.rateLimiter.consume(bucket, incoming.address))
    return nobody
  }
  const caller = await identify(service, incoming)
  showRateLimit(incoming, await service.rateLimiter.consume(bucket, caller.credentialId, caller.userId))
  requireScopes(caller, spec.scopes)
  return caller
}

// The caller of a route that needs no token. This caller has no memberships, so nothing is visible.
const nobody: Caller = {
  tokenId: '',
  credentialId: '',
  userId: '',
  email: '',
  name: '',
  scopes: [],
  expiresAt: null,
  clientName: null,
  memberships: [],
}

/**
 * Authenticates the caller. A failed authentication counts against the address, so that nobody can try many tokens.
 * Refuses with 401, or with 429 after too many failures.
 */
export async function identify(
  { rateLimiter }: Service,
  incoming: Pick<Incoming, 'identify' | 'address' | 'setHeaders'>,
): Promise<Caller> {
  try {
    return await incoming.identify()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    showRateLimit(incoming, await rateLimiter.consume('ip', incoming.address))
    throw error
  }
}

/** Sets the headers that show a state of the rate limits; null shows nothing. */
export function showRateLimit({ setHeaders }: Pick<Incoming, 'setHeaders'>, state: RateLimitState | null): void {
  if (state !== null) setHeaders(rateLimitHeaders(state))
}

/** A call whose caller `admit` has found. */
export type Admitted = Incoming & { caller: Caller }

// The writes of one user that run at a time in this process, and those that may wait. A waiting call has no connection
// to the database, and its body is not read yet.
const writes = new Turns({ ofOneUser: 8, waitingOfOneUser: 500, patienceMs: 20_000 })

/**
 * Runs the work of an admitted call: it takes its turns on behalf of the caller, and ends when the caller is gone. Only
 * some writes of a user run at a time.
 */
export function inTurn<T>({ spec }: Pipeline, { caller, address, signal }: Admitted, work: () => Promise<T>) {
  if (spec.access === 'anyone') return onBehalfOf(address, work, { signal })
  return onBehalfOf(caller.userId, () => (isRead(spec) ? work() : writes.run(work)), { signal })
}

/**
 * Decides an admitted call. Reads it (415, 413, 400, 404). Then the handler of the route answers it, or the stored
 * answer of its Idempotency-Key. The file of a form that no attachment has claimed is removed.
 */
export async function decide(pipeline: Pipeline, admitted: Admitted): Promise<Answer> {
  const { service, spec } = pipeline
  const upload = spec.multipart === undefined ? null : new Upload(service)
  const answered = async () => {
    const received = await readCall(pipeline, { ...admitted, upload })
    return isRead(spec) ? answerRead(spec, received) : answerWrite(spec, received)
  }
  return answered().finally(() => releaseUpload(service, upload))
}

/** Computes the data of an answer that is computed only when it is needed. */
export async function withData({ computeData, ...answer }: Answer): Promise<Answer> {
  return computeData === undefined ? answer : { ...answer, dataText: await computeData() }
}

/**
 * A call that was read. `keyed` is null where the call has no Idempotency-Key. `isMinimal` says that the caller prefers
 * the smallest answer to a write.
 */
type Received = { call: ReceivedCall; path: string; keyed: KeyedRequest | null; isMinimal: boolean }

type ReceivedCall = Omit<UntypedCall, 'prepared' | 'tx' | 'ahead' | 'write'>

// Reads everything that the handler gets, in the order of checks.
async function readCall(
  pipeline: Pipeline,
  { upload, ...admitted }: Admitted & { upload: Upload | null },
): Promise<Received> {
  const { service, spec } = pipeline
  const { caller, headers, path } = admitted
  const givenKey = isIdempotent(spec) ? (headers['idempotency-key'] as string | undefined) : undefined
  const payload =
    spec.method === 'GET'
      ? noPayload
      : await pipeline.readPayload({
          source: admitted.body,
          upload,
          keyed: givenKey === undefined ? null : admitted.query,
        })
  const query = pipeline.readQuery(admitted.query) as UntypedCall['query']
  const guard = guardOf(headers['if-match'], spec)
  const key = isRehearsal(query) ? null : parseIdempotencyKey(givenKey)
  const lastEventId = spec.stream ? parseLastEventId(headers['last-event-id']) : null
  // Only the query says that a write is a rehearsal, so the further scopes of a rehearsal are checked behind every 400.
  if (isRehearsal(query)) requireRehearsalScopes(spec, caller)
  // The path is read last, because every 400 comes before a 404. A malformed id is a 404: the id names nothing that
  // exists.
  const params = pipeline.readParams(admitted.params) as UntypedCall['params']
  const call = {
    service,
    caller,
    address: admitted.address,
    requestId: admitted.requestId,
    client: admitted.client,
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
  const keyed = keyedRequest(call, { spec, path, key, fingerprint: payload.fingerprint })
  return { call, path, keyed, isMinimal: prefersMinimal(headers.prefer) }
}

const noPayload = { body: {}, mediaType: null, fingerprint: null }

function keyedRequest(
  { service, caller }: ReceivedCall,
  repeatable: { spec: Route; path: string; key: string | null; fingerprint: Uint8Array | null },
): KeyedRequest | null {
  const { spec, path, key, fingerprint } = repeatable
  if (key === null || fingerprint === null) return null
  return {
    scope: { credentialId: caller.credentialId, method: spec.method, path, key },
    fingerprint: keyedFingerprint(service.config.TOKEN_PEPPER, fingerprint),
    lifetimeHours: service.config.IDEMPOTENCY_TTL_HOURS,
  }
}

// Answers a read. Only a POST has a key. Its answer is read before the transaction that looks for a remembered answer.
// A read may wait for a turn, and nobody waits for a turn with a connection in hand.
async function answerRead(spec: Route, { call, keyed }: Received): Promise<Answer> {
  const answer = await spec.handle({ ...outsideTransaction(call), prepared: await prepare(spec, call) })
  if (keyed === null) return answer
  const read = async () => ({ ...answer, status: statusOf(spec, answer) })
  return inTransaction(call.service.database, (tx) => answerOnce(answerContext(call, tx), keyed, read))
}

// Answers a write: the handler, the record of the key and the audit entry are one transaction.
async function answerWrite(spec: Route, { call, path, keyed, isMinimal }: Received): Promise<Answer> {
  const prepared = await prepare(spec, call)
  const write = async (tx: Transaction, ahead: Ahead) => {
    const context = writeContext({ ...call, tx, ahead })
    const handled = await spec.handle({ ...call, db: tx, tx, ahead, write: context, prepared })
    if (spec.access !== 'anyone') await recordWrite(tx, { spec, path, call, answer: handled })
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

type AuditedWrite = {
  spec: Route
  /** The path of the call below the origin. */
  path: string
  call: Pick<UntypedCall, 'caller' | 'client' | 'requestId' | 'params'>
  answer: Answer
}

/**
 * Records an accepted write in the audit log, in the transaction of the write. The log holds who called what through
 * which program, and never a text of a document (api/guide/authentication.md#audit).
 */
async function recordWrite(tx: Transaction, { spec, path, call, answer }: AuditedWrite): Promise<void> {
  const { caller, client, requestId } = call
  const named = namedByPath(spec, call.params)
  await insertAuditEntries(tx, {
    action: spec.operationId,
    requestId,
    tokenId: caller.tokenId,
    userId: caller.userId,
    method: spec.method,
    path,
    // The user approved a program under the name that OAuth knows; the header names any program.
    clientName: caller.clientName ?? client.name,
    clientVersion: caller.clientName === null ? client.version : null,
    isAgent: client.isAgent,
    documentIds: [...new Set(answer.documentIds ?? [named.documentId].filter((id) => id !== null))],
    place: { ...named, workspaceId: answer.workspaceId ?? null },
  })
}

// The document, knowledge base or folder that the parameter `id` of the path names. The error for an unknown id says
// what the parameter names.
function namedByPath(spec: Route, params: Record<string, unknown>) {
  const mark: { 'x-error'?: string } = spec.params?.properties['id'] ?? {}
  const idOf = (error: string) => (mark['x-error'] === error ? params['id'] : null)
  return {
    documentId: idOf('document_not_found') as string | null,
    knowledgeBaseId: idOf('knowledge_base_not_found') as number | null,
    folderId: idOf('folder_not_found') as number | null,
  }
}
