import type { Response } from 'express'
import type { StaticDecode, TObject, TSchema } from 'typebox'
import type { ReceivedFile } from '../../shared/attachments/upload.ts'
import type { Caller } from '../../shared/auth/caller.ts'
import type { Scope } from '../../shared/auth/scopes.ts'
import type { Ahead } from '../../shared/computations/ahead.ts'
import type { Queryable, Transaction } from '../../shared/database/database.ts'
import type { ErrorCode } from '../../shared/errors/errors.ts'
import type { Client } from '../../shared/requests/client.ts'
import type { ListPage } from './pagination.ts'
import type { Guard, VersionForm } from './preconditions.ts'
import type { Bucket } from './rate-limit.ts'
import type { Service } from './service.ts'
import type { RouteTag } from './tags.ts'
import type { WriteContext } from './write-context.ts'

/** The prefix of every path of the route table. */
export const apiPrefix = '/api/v1'

/** The methods that routes have; HEAD and OPTIONS follow from them. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * An answer of a handler. Most answers are sent in the envelope: the JSON object with the members `data` and
 * `request_id`.
 */
export type Answer = {
  /**
   * The status of the answer. Needed only where the route declares several successes; otherwise the declared status
   * counts.
   */
  status?: number
  /** The member `data`; absent for 204. */
  data?: unknown
  /** The member `data` as JSON text, in place of `data`. Threads write large answers as text. */
  dataText?: string
  /** Computes `dataText` of a GET. Not called when the answer is 304, so that polling a costly answer stays cheap. */
  computeData?: () => Promise<string>
  /** Makes `data` for a caller that prefers `return=minimal`, where the success declares its schema. */
  minimal?: () => object
  /** The member `page` of a list. */
  page?: ListPage
  /** Further members of the envelope, beside `data`. */
  members?: Record<string, unknown>
  /** The version that the ETag header names, without quotes. */
  etag?: string | null
  /** The absolute path of the created resource. */
  location?: string | null
  /** Further response headers. */
  headers?: Record<string, string>
  /**
   * Writes a body without envelope, after the headers. The success of the route declares its `media`. `write` is not
   * called when the client needs no body (HEAD, 304), so it has to open the source of the body itself.
   */
  write?: (response: Response) => Promise<void>
  /**
   * The workspace of the answer, if there is exactly one. An answer that is repeated for an Idempotency-Key is 404 once
   * the caller has lost this workspace. The audit log of the workspace has the write; a write that names no document,
   * knowledge base or folder in its path has to say its workspace.
   */
  workspaceId?: string
  /** False for an answer that is not remembered for its Idempotency-Key, so that a repetition runs again. */
  remembered?: false
  /** The documents of a write for its entries in the audit log, where the path does not name the document. */
  documentIds?: readonly string[]
}

/**
 * An input of a handler, validated and decoded. Reads get the connection pool as `db`, writes get their transaction as
 * `tx`.
 */
export type Call<M extends Method, P extends TObject, Q extends TObject, B extends TSchema, Prepared> = {
  service: Service
  caller: Caller
  /** The address of the caller, in the form in which rate limits count it. */
  address: string
  requestId: string
  /** The name and version of the calling program, from User-Agent. */
  client: Client
  /** Method and path template of the route. A cursor of a list is valid only for the endpoint that made it. */
  endpoint: string
  params: StaticDecode<P>
  query: StaticDecode<Q>
  body: StaticDecode<B>
  /** The precondition of the call, from If-Match and the option `guard` of the route. */
  guard: Guard
  /** The media type of the request body, without parameters. */
  mediaType: string | null
  /** The file of a form; null where the route declares none. */
  file: ReceivedFile | null
  /** The parsed Last-Event-ID of a stream; null when it was not sent. */
  lastEventId: number | null
  /**
   * Returns the result of `prepare`, or throws what `prepare` threw. A handler calls this function after its checks of
   * visibility and state, because refusals of the content come later (api/guide/requests.md#order-of-checks).
   */
  prepared: () => Prepared
} & (M extends 'GET' ? { db: Queryable } : Writing)

/**
 * The part of a call that only writes get: their transaction, and `ahead`, which computes what is too slow inside the
 * transaction. `write` is the context for functions of `shared/` that write.
 */
type Writing = { tx: Transaction; ahead: Ahead; write: WriteContext }

/**
 * A success that a route declares. Where `data` is null, the answer is an empty 204 or, with `media`, a body without
 * envelope.
 */
export type Success = {
  status: 200 | 201 | 202 | 204
  description: string
  data: TSchema | null
  /**
   * The schema of `data` for a caller that prefers `return=minimal`. A record needs none: its id and version are kept.
   */
  minimal?: TObject
  /** The media type of a body without envelope, such as a file or a stream. */
  media?: string
  /** Whether `data` is an array of the schema, with `page` beside it. */
  list?: boolean
  /** The schemas of further members of the envelope. */
  members?: Record<string, TSchema>
  /** Whether the answer has the header ETag. */
  etag?: boolean
  /** Whether the answer has the header Location. */
  location?: boolean
}

/**
 * A declaration of what the answer of a rehearsed write shows beside the members of the real answer: the member `diff`
 * of `data`. The chapter api/guide/writes.md#rehearsals says what callers can rely on.
 */
export type Rehearsal = {
  /** The scopes that a rehearsal needs besides the scopes of the write, because of what `diff` shows. */
  scopes: readonly Scope[]
  /** The schema of `diff`. */
  diff: TSchema
  /**
   * Reads what the write has changed, inside its transaction and behind its handler. The pipeline calls the returned
   * function when the transaction is undone and no lock is held. That function resolves to `diff` as JSON text.
   */
  compare: (tx: Transaction, call: Pick<UntypedCall, 'caller' | 'params'>) => Promise<() => Promise<string>>
}

/**
 * A declaration of an endpoint. The pipeline (`pipeline.ts`), the OpenAPI description and the reference are made from
 * the declaration. Everything that is known about an endpoint is declared here and nowhere else.
 */
export type RouteOptions<M extends Method, P extends TObject, Q extends TObject, B extends TSchema, Prepared> = {
  method: M
  /** The path below `/api/v1`, with `{name}` parameters. */
  path: string
  /** The name of the operation in generated clients, unique among all routes. */
  operationId: string
  /** The section of the description and the reference. */
  tag: RouteTag
  /** One line for lists of endpoints, without a full stop. */
  summary: string
  /** Markdown below the summary. */
  description?: string
  /**
   * The endpoint goes beyond the specified interface. The OpenAPI description marks it with `x-extension: true`, and
   * the reference names it an extension.
   */
  extension?: true
  /** Where the endpoint is published; by default in the OpenAPI description and in the reference. */
  listed?: 'openapi' | 'reference'
  /** The scopes that a token needs, all of them; an empty list means any valid token. */
  scopes: readonly Scope[]
  /** Set by `openRoute`. The endpoint needs no token, so it has no caller, no Idempotency-Key and no audit entry. */
  access?: 'anyone'
  /** Set by `safePost`. The endpoint reads, although its method is POST. */
  safe?: true
  /** The rate limit that a call counts against; by default `read` for reads and `write` for writes. */
  bucket?: Exclude<Bucket, 'ip' | 'share'>
  /** The parameters of the path. A malformed value is refused with the `x-error` of its schema, as a rule a 404. */
  params?: P
  /** The query parameters. Unknown parameters are ignored. Repeated and malformed parameters are refused with 400. */
  query?: Q
  /** The body of a write, as JSON unless `multipart` is set. Unknown members are ignored. */
  body?: B
  /** The body is multipart/form-data: `body` describes its fields, and `file` names the part that is a file. */
  multipart?: { file: string }
  /** Media types of the body beside `application/json`. */
  mediaTypes?: readonly string[]
  /**
   * Media types of the answer beside `application/json`. The header Accept chooses among them; the answer is 415 when
   * the header admits no type of the route.
   */
  answerTypes?: readonly string[]
  /** Whether If-Match is checked when it is sent, or must be sent (428). Without this option, If-Match is ignored. */
  guard?: 'optional' | 'required'
  /** The form of the versions that If-Match names without quotes; by default the digest of a body. */
  versionForm?: Exclude<VersionForm, 'digest'>
  /**
   * The rehearsal of a write: with `?dry_run=true` everything happens but the commit. A write without this option
   * refuses `dry_run=true`, so that nobody takes a real write for a rehearsal.
   */
  rehearsal?: Rehearsal
  /** Whether a GET answers 304 when If-None-Match names the current version. */
  conditional?: boolean
  /** Whether the answer is an endless stream of events. Such a route reads Last-Event-ID and has no HEAD. */
  stream?: boolean
  /** The success of the route, or several; the first one is the default. */
  success: Success | readonly Success[]
  /** The error codes of this route, without the codes that follow from the other options (`docs/route-errors.ts`). */
  errors: readonly ErrorCode[]
  /**
   * Slow work that is done before the transaction of a write is opened, such as a search in a whole document. The
   * handler gets the result from `call.prepared()`. Functions that are a `computation` are called through `call.ahead`
   * instead.
   */
  prepare?: (call: Omit<Call<'GET', P, Q, B, unknown>, 'prepared'>) => Promise<Prepared>
  /** Answers a call, inside the transaction of a write. A handler throws a `Refusal` to refuse the call. */
  handle: (call: Call<M, P, Q, B, Prepared>) => Promise<Answer>
}

/** A route as the route table holds it, without the types of its parameters. */
export type Route = Omit<RouteOptions<Method, TObject, TObject, TSchema, unknown>, 'prepare' | 'handle' | 'success'> & {
  success: readonly Success[]
  prepare?: (call: Omit<UntypedCall, 'prepared'>) => Promise<unknown>
  handle: (call: UntypedCall) => Promise<Answer>
}

/** A call as the pipeline makes it, before the types of its route are known. */
export type UntypedCall = Omit<Call<'GET', TObject, TObject, TSchema, unknown>, 'db'> & {
  db: Queryable
  tx: Queryable
  ahead: Ahead
  /** Null in reads. */
  write: WriteContext | null
}

/**
 * Declares an endpoint. Validation, scopes, rate limits, idempotency, the OpenAPI description and the reference all
 * come from this one declaration.
 */
export function route<
  const M extends Method,
  P extends TObject = TObject<Record<never, never>>,
  Q extends TObject = TObject<Record<never, never>>,
  B extends TSchema = TObject<Record<never, never>>,
  Prepared = undefined,
>(options: RouteOptions<M, P, Q, B, Prepared>): Route {
  const { success, ...rest } = options
  return { ...rest, success: Array.isArray(success) ? success : [success] } as unknown as Route
}

/**
 * Declares an endpoint that needs no token. Calls of the endpoint are counted by address, and caches must not store the
 * answers.
 */
export function openRoute<
  const M extends Method,
  P extends TObject = TObject<Record<never, never>>,
  Q extends TObject = TObject<Record<never, never>>,
  B extends TSchema = TObject<Record<never, never>>,
  Prepared = undefined,
>(options: OpenRouteOptions<M, P, Q, B, Prepared>): Route {
  return { ...route<M, P, Q, B, Prepared>({ ...options, scopes: [] }), access: 'anyone' }
}

type OpenRouteOptions<M extends Method, P extends TObject, Q extends TObject, B extends TSchema, Prepared> = Omit<
  RouteOptions<M, P, Q, B, Prepared>,
  'scopes' | 'access' | 'bucket' | 'prepare' | 'handle'
> & {
  prepare?: (call: Omit<Call<'GET', P, Q, B, unknown>, 'prepared' | 'caller'>) => Promise<Prepared>
  handle: (call: Omit<Call<M, P, Q, B, Prepared>, 'caller'>) => Promise<Answer>
}

/**
 * Declares a POST that only reads, because its input is too long for a query: a safe request in the sense of RFC 9110.
 * Such a call is answered like a GET, without a transaction and without an entry in the audit log.
 */
export function safePost<
  P extends TObject = TObject<Record<never, never>>,
  Q extends TObject = TObject<Record<never, never>>,
  B extends TSchema = TObject<Record<never, never>>,
>(options: Omit<RouteOptions<'GET', P, Q, B, undefined>, 'method' | 'prepare' | 'conditional' | 'stream'>): Route {
  return { ...route<'GET', P, Q, B>({ ...options, method: 'GET' }), method: 'POST', safe: true }
}

/** Whether calls of the route only read. */
export function isRead(spec: Route): boolean {
  return spec.method === 'GET' || spec.safe === true
}

/** Whether calls of the route may carry an Idempotency-Key. A key belongs to a token, so an open route takes no key. */
export function isIdempotent(spec: Route): boolean {
  return spec.method === 'POST' && spec.access !== 'anyone'
}

/** The bucket against whose limit a call of the route counts. */
export function bucketOf(spec: Route): Bucket {
  if (spec.access === 'anyone') return 'ip'
  return spec.bucket ?? (isRead(spec) ? 'read' : 'write')
}
