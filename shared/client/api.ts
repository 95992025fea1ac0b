import createClient, { defaultPathSerializer } from 'openapi-fetch'
import { KnowledgeBaseError } from './errors.ts'
import type { paths } from './openapi.d.ts'
import { type CallOptions, type Connection, isJson, send } from './transport.ts'

/** The methods of the API. */
export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

/** The paths that serve a method, as the reference writes them: `/documents/{id}`. */
export type Path<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<M, unknown> ? P : never
}[keyof paths]

/** The operation of a method and a path, as the OpenAPI description has it. */
export type Operation<M extends Method, P extends Path<M>> = paths[P] extends Record<M, infer O> ? O : never

/** The input of a call: `params` with `path`, `query` and `header`, `body`, and options of the call. */
export type Input<O> = Params<O> & Body<O> & CallOptions

type Params<O> = O extends { parameters: infer P }
  ? Record<never, never> extends P
    ? { params?: P }
    : { params: P }
  : { params?: never }

type Body<O> = O extends { requestBody: { content: infer C } }
  ? { body: C[keyof C] }
  : O extends { requestBody?: { content: infer C } }
    ? { body?: C[keyof C] }
    : { body?: never }

/**
 * The answer of a call. JSON has the result as `data`, and lists have `page` beside it. A file or stream is a
 * `ReadableStream` as `data`, and an answer without content has `data: undefined`.
 */
export type Answer<O, Form = 'application/json'> = Envelope<Success<O>, Form> & {
  /** The version of the resource without quotes, as `If-Match` takes it. */
  etag: string | undefined
  requestId: string | undefined
  response: Response
}

type Success<O> = O extends { responses: infer R } ? R[keyof R] : never

// The generated types have the answer to a write that prefers `return=minimal` beside the whole answer.
type Envelope<S, Form> = S extends { content: infer C }
  ? C extends { 'application/json': infer J }
    ? Omit<Form extends keyof C ? C[Form] : J, 'request_id'>
    : { data: ReadableStream<Uint8Array> }
  : { data: undefined }

/** Calls an operation. Throws a KnowledgeBaseError unless it succeeds. */
export type Call<M extends Method> = {
  <P extends Path<M>>(
    path: P,
    input: Input<Operation<M, P>> & { params: { header: { Prefer: Minimal } } },
  ): Promise<Answer<Operation<M, P>, Minimal>>
  <P extends Path<M>>(
    path: P,
    ...input: Record<never, never> extends Input<Operation<M, P>> ? [Input<Operation<M, P>>?] : [Input<Operation<M, P>>]
  ): Promise<Answer<Operation<M, P>>>
}

type Minimal = 'return=minimal'

/** All operations of the API, by method and path. */
export type Api = {
  readonly GET: Call<'get'>
  readonly POST: Call<'post'>
  readonly PUT: Call<'put'>
  readonly PATCH: Call<'patch'>
  readonly DELETE: Call<'delete'>
}

/** Makes the calls of all operations, which go through a connection. */
export function apiOf(connection: Connection): Api {
  const client = createClient<paths>({
    baseUrl: connection.address,
    pathSerializer: pathOf,
    bodySerializer: (body: unknown) => serialized(body as object),
  })
  const call = <M extends Method>(method: M): Call<M> => {
    return async (path: string, input?: object) => {
      const { signal, timeout, maxRetries, ...init } = (input ?? {}) as CallOptions
      const fetch = (request: Request) => sent(connection, request, { signal, timeout, maxRetries })
      const { request } = client as unknown as UntypedClient
      const { response } = await request(method, path, { ...init, fetch, parseAs: 'stream' })
      return (await answerOf(response)) as never
    }
  }
  return { GET: call('get'), POST: call('post'), PUT: call('put'), PATCH: call('patch'), DELETE: call('delete') }
}

// The types of openapi-fetch know each operation, but not an operation that is still to be chosen.
type UntypedClient = {
  request: (method: Method, path: string, init: object) => Promise<{ response: Response }>
}

async function sent(connection: Connection, request: Request, options: CallOptions): Promise<Response> {
  const { method, url, headers } = request
  const bytes = await request.arrayBuffer()
  return send(connection, { ...options, method, url, headers, ...(bytes.byteLength > 0 && { body: () => bytes }) })
}

/**
 * The path of a call. Throws a TypeError for a parameter that would make it another path. An address has no empty
 * segment, and `.` and `..` lead to the segments above, also when they are encoded.
 */
function pathOf(template: string, parameters: Record<string, unknown>): string {
  for (const [name, value] of Object.entries(parameters)) requireSegment(name, String(value))
  return defaultPathSerializer(template, parameters)
}

/** Throws a TypeError for a text that cannot be one segment of a path. */
export function requireSegment(name: string, value: string): void {
  if (['', '.', '..'].includes(value)) throw new TypeError(`${name} must not be empty, "." or ".."`)
}

// An upload, the one body with a file, is a form. Every other body is JSON.
function serialized(body: object): string | FormData {
  const members = Object.entries(body) as [string, string | Blob][]
  if (!members.some(([, value]) => value instanceof Blob)) return JSON.stringify(body)
  const form = new FormData()
  for (const [name, value] of members) form.set(name, value)
  return form
}

/** The answer as callers get it. Throws `unexpected_answer` for JSON that is broken. */
async function answerOf(response: Response): Promise<object> {
  const requestId = response.headers.get('x-request-id') ?? undefined
  const head = { etag: versionOf(response), requestId, response }
  if (response.status === 204) return { data: undefined, ...head }
  if (!isJson(response)) return { data: response.body, ...head }
  const envelope = parsed(await response.text())
  if (envelope === null) {
    const { status } = response
    const message = `${status} unexpected_answer: this is no answer of the service`
    throw new KnowledgeBaseError(message, { code: 'unexpected_answer', status, requestId })
  }
  const { request_id: _, ...members } = envelope
  return { ...members, ...head }
}

/** The version that the ETag of an answer names, without quotes. */
export function versionOf({ headers }: Response): string | undefined {
  return headers.get('etag')?.replace(/^"(.*)"$/, '$1')
}

function parsed(text: string): Record<string, unknown> | null {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    return null
  }
}
