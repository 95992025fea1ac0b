import type { KnowledgeBaseError } from './errors.ts'
import { type Failure, failedAnswer, failedConnection } from './failures.ts'
import { delayBefore, pause } from './pauses.ts'

/** Options of one call. An option that is left out is that of the client. */
export type CallOptions = {
  /** Aborts the call with its repetitions and pauses. The call then throws the reason of the signal. */
  signal?: AbortSignal | undefined
  /** Milliseconds for each attempt: to the end of a JSON answer, or to the beginning of a file or stream. */
  timeout?: number | undefined
  /** How often the call is repeated at most. */
  maxRetries?: number | undefined
}

/** A repetition that is about to happen: `error` ended attempt number `attempt`, and the next begins in `delay` ms. */
export type Retry = { error: KnowledgeBaseError; attempt: number; delay: number }

/** What all calls of a client share. Times are in milliseconds. */
export type Connection = {
  /** The address of the API, without a slash at its end. */
  address: string
  /** Resolves with the present token; undefined for a client without a token. */
  token: (() => Promise<string>) | undefined
  userAgent: string
  fetch: typeof globalThis.fetch
  timeout: number
  maxRetries: number
  maxRetryDelay: number
  onRetry: (retry: Retry) => void
}

/** A request that can be sent several times. */
export type Outgoing = CallOptions & {
  method: string
  url: string
  headers: Headers
  /** Makes the body of one attempt. */
  body?: (() => NonNullable<RequestInit['body']>) | undefined
}

/**
 * Sends a request, and repeats it while that is useful and cannot write twice. Resolves with the first answer that is a
 * success. A JSON answer has arrived in full by then; the body of any other answer is still to be read. Throws a
 * KnowledgeBaseError when the call failed, and the reason of the signal when the caller aborted it.
 */
export async function send(connection: Connection, request: Outgoing): Promise<Response> {
  const { maxRetries = connection.maxRetries, signal } = request
  const key = idempotencyKey(connection, request)
  const headers = new Headers(request.headers)
  if (key !== null) headers.set('idempotency-key', key)
  let mayHaveRun = false
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await attemptOnce(connection, { ...request, headers })
    if (outcome instanceof Response) return outcome
    mayHaveRun ||= outcome.mayHaveRun
    const error = outcome.error({ outcomeUnknown: mayHaveRun && !isSafe(request) })
    const repeats = outcome.repeat === 'any' || (outcome.repeat === 'repeatable' && isRepeatable(request, key))
    const delay = delayBefore(attempt, { retryAfter: error.retryAfter, longest: connection.maxRetryDelay })
    if (!repeats || attempt > maxRetries || delay === null) throw error
    connection.onRetry({ error, attempt, delay })
    await pause(delay, signal)
  }
}

// The service remembers the key of every POST with a token, so each gets one. Without a token there is no memory.
function idempotencyKey({ address, token }: Connection, { method, url, headers }: Outgoing): string | null {
  if (method !== 'POST' || token === undefined || url.startsWith(`${address}/auth/`)) return null
  return headers.get('idempotency-key') ?? newKey()
}

// Pages without TLS have no `crypto.randomUUID`.
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function isSafe({ method }: Outgoing): boolean {
  return method === 'GET' || method === 'HEAD'
}

// A POST with a key and a DELETE have the same effect when they are repeated. A late repetition of another write could
// overwrite what somebody else has written since. A version guards a PUT against that, but not the metadata of a PATCH.
function isRepeatable({ method, headers }: Outgoing, key: string | null): boolean {
  if (method === 'POST') return key !== null
  return method === 'PUT' ? headers.get('if-match') !== '*' : method !== 'PATCH'
}

/**
 * Sends a request once. The time limit covers a JSON answer to its end. Of other answers it covers the head, since a
 * file takes as long as its size asks for.
 */
async function attemptOnce(connection: Connection, request: Outgoing): Promise<Response | Failure> {
  const { method, url, headers, body, signal, timeout = connection.timeout } = request
  signal?.throwIfAborted()
  const sent = new Headers(headers)
  sent.set('user-agent', connection.userAgent)
  const token = await connection.token?.()
  if (token !== undefined) sent.set('authorization', `Bearer ${token}`)
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(), timeout)
  try {
    const response = await connection.fetch(url, {
      method,
      headers: sent,
      // A redirect would carry the token to a place that the caller has not named.
      redirect: 'manual',
      signal: signal === undefined ? limit.signal : AbortSignal.any([signal, limit.signal]),
      ...(body !== undefined && { body: body() }),
    })
    if (response.ok && isStreamed(response)) return response
    const text = await response.text()
    if (response.ok && isJson(response)) return withText(response, text)
    return failedAnswer(request, { response, text: isJson(response) ? text : null })
  } catch (cause) {
    signal?.throwIfAborted()
    return failedConnection(request, { cause, timeout: limit.signal.aborted ? timeout : null })
  } finally {
    clearTimeout(timer)
  }
}

/** Whether an answer is JSON, which arrives in full before a call resolves. */
export function isJson({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('application/json') ?? false
}

// Anything else, such as the HTML of a proxy that wants a sign-in, is no answer of the service.
function isStreamed({ status, headers }: Response): boolean {
  const type = headers.get('content-type') ?? ''
  return status === 204 || ['application/octet-stream', 'application/zip', 'text/event-stream'].includes(mediaOf(type))
}

function mediaOf(contentType: string): string {
  return contentType.split(';')[0]?.trim() ?? ''
}

function withText(response: Response, text: string): Response {
  const { status, headers } = response
  return new Response(text, { status, headers })
}
