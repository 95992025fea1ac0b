import type { Response } from 'express'
import type { StaticDecode, TObject, TSchema } from 'typebox'
import type { ReceivedFile } from '../../shared/attachments/upload.ts'
import type { Caller } from '../../shared/auth/caller.ts'
import type { Scope } from '../../shared/auth/scopes.ts'
import type { Ahead } from '../../shared/computations/ahead.ts'
import type { Queryable, Transaction } from '../../shared/database/database.ts'
import type { ErrorCode } from '../../shared/errors/errors.ts'
import type { Client } from '../../shared/requests/client.ts'
import type { Page } from './pagination.ts'
import type { Guard, VersionForm } from './preconditions.ts'
import type { Bucket } from './rate-limit.ts'
import type { Service } from './service.ts'
import type { Tag } from './tags.ts'

/** Where every path of the route table is mounted (specification 9). */
export const apiPrefix = '/api/v1'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** What a handler answers with. */
export type Answer = {
  /** Only where a route has several successes; otherwise the declared one. */
  status?: number
  /** The `data` member; absent for 204. */
  data?: unknown
  /** Instead of `data`: the same as JSON text, where a large one was written as such. */
  dataText?: string
  /** Makes the envelope that of a list. */
  page?: Page
  /** Further members of the envelope, beside `data`. */
  members?: Record<string, unknown>
  /** The version behind the ETag header, without quotes. */
  etag?: string | null
  /** Absolute path of the created resource. */
  location?: string | null
  headers?: Record<string, string>
  /**
   * Writes a body that is not the envelope, after headers and ETag; the success declares its `media`. Not called when
   * the client needs none (HEAD, 304), so whatever the body needs is opened here.
   */
  write?: (response: Response) => Promise<void>
  /** Where the write happened: a replay is 404 once the caller has lost that workspace. */
  workspaceId?: string
}

/** What a handler gets, validated and converted. Reads get the pool, writes their transaction. */
export type Call<M extends Method, P extends TObject, Q extends TObject, B extends TSchema, Prepared> = {
  service: Service
  caller: Caller
  /** Where the call comes from, as what is counted by address knows it. */
  address: string
  requestId: string
  /** What User-Agent says of the program that calls. */
  client: Client
  /** The address of the endpoint, for cursors: method and path template. */
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
  /** What `prepare` returned; throws what it threw, so that the order of checks is kept (decisions 2.0). */
  prepared: () => Prepared
} & (M extends 'GET' ? { db: Queryable } : Writing)

/** What only calls that write get: their transaction, and where they get what takes too long to compute within it. */
type Writing = { tx: Transaction; ahead: Ahead }

/** One way to succeed; `data` null means an empty 204 or, with `media`, a body without envelope. */
export type Success = {
  status: 200 | 201 | 202 | 204
  description: string
  data: TSchema | null
  /** The media type of a body without envelope, such as a file or a stream. */
  media?: string
  list?: boolean
  members?: Record<string, TSchema>
  etag?: boolean
  location?: boolean
}

/** A row of the route table: everything that is known about an endpoint stands here and nowhere else. */
export type RouteOptions<M extends Method, P extends TObject, Q extends TObject, B extends TSchema, Prepared> = {
  method: M
  /** Below `/api/v1`, with `{name}` parameters. */
  path: string
  operationId: string
  tag: Tag
  summary: string
  description?: string
  /** Where the endpoint is published; by default in the OpenAPI description and in the reference. */
  listed?: 'openapi' | 'reference'
  /** All of them are required; an empty list means any valid token. */
  scopes: readonly Scope[]
  /** Set by `openRoute`: no token, and so no caller, Idempotency-Key or audit entry. */
  access?: 'anyone'
  /** The rate-limit bucket; by default `read` for GET and `write` for the rest. */
  bucket?: Exclude<Bucket, 'ip' | 'share'>
  params?: P
  query?: Q
  body?: B
  /** The body is multipart/form-data: `body` describes its fields, and the part of this name is a file. */
  multipart?: { file: string }
  /** Media types of the body beside `application/json`. */
  mediaTypes?: readonly string[]
  /** Media types of the answer beside `application/json`, where Accept chooses; 415 when it admits none of them. */
  answerTypes?: readonly string[]
  /** Whether If-Match counts, and whether it must be sent. */
  guard?: 'optional' | 'required'
  /** What the versions that If-Match names look like; by default those of bodies. */
  versionForm?: Exclude<VersionForm, 'digest'>
  /** Whether If-None-Match is honoured with 304. */
  conditional?: boolean
  /** Whether it answers with an endless stream of events: it reads Last-Event-ID and has no HEAD. */
  stream?: boolean
  success: Success | readonly Success[]
  /** The codes of decisions part C beside those that every route has. */
  errors: readonly ErrorCode[]
  /** Costly work before the transaction of the write is opened, other than computations: those are for `ahead`. */
  prepare?: (call: Omit<Call<'GET', P, Q, B, unknown>, 'prepared'>) => Promise<Prepared>
  handle: (call: Call<M, P, Q, B, Prepared>) => Promise<Answer>
}

/** A route with its types forgotten, as the table holds it. */
export type Route = Omit<RouteOptions<Method, TObject, TObject, TSchema, unknown>, 'prepare' | 'handle' | 'success'> & {
  success: readonly Success[]
  prepare?: (call: Omit<UntypedCall, 'prepared'>) => Promise<unknown>
  handle: (call: UntypedCall) => Promise<Answer>
}

/** A call before the types of its route are known. */
export type UntypedCall = Omit<Call<'GET', TObject, TObject, TSchema, unknown>, 'db'> & {
  db: Queryable
  tx: Queryable
  ahead: Ahead
}

/**
 * Declares an endpoint. Validation, scopes, rate limits, idempotency, the OpenAPI description and the reference in
 * Markdown all come from this one declaration.
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

/** Declares an endpoint that needs no token; its calls are counted by address and its answers never stored. */
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

/** Whether calls of the route may carry an Idempotency-Key: it belongs to a token (decisions 2.0). */
export function isIdempotent(spec: Route): boolean {
  return spec.method === 'POST' && spec.access !== 'anyone'
}

/** The bucket a call of the route counts in. */
export function bucketOf(spec: Route): Bucket {
  if (spec.access === 'anyone') return 'ip'
  return spec.bucket ?? (spec.method === 'GET' ? 'read' : 'write')
}
