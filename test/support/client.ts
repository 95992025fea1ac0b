import { checkErrorDetails } from './error-details.ts'
import { httpCall } from './http-call.ts'

/** The parsed answer of one call. `body` is the envelope; undefined for an answer without JSON. */
export type Reply = {
  status: number
  headers: Headers
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into envelopes of every shape
  body: any
}

type CallOptions = { body?: unknown; headers?: Record<string, string>; raw?: string | Uint8Array }

/**
 * A small HTTP client like that of any third party, with JSON and a bearer token. It compares the details of
 * every error that a test meets with the error catalogue.
 */
export class Client {
  readonly origin: string
  readonly bearer: string | undefined

  constructor(options: { origin: string; token?: string }) {
    this.origin = options.origin
    this.bearer = options.token
  }

  /** Calls a path below `/api/v1`, or an absolute path, which begins with `//`. */
  async call(method: string, path: string, options: CallOptions = {}): Promise<Reply> {
    const url = path.startsWith('//') ? this.origin + path.slice(1) : `${this.origin}/api/v1${path}`
    const payload = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body))
    const { status, headers, text } = await httpCall(url, {
      method,
      headers: {
        ...(this.bearer !== undefined && { authorization: `Bearer ${this.bearer}` }),
        ...(payload !== undefined && { 'content-type': 'application/json' }),
        ...options.headers,
      },
      body: payload,
    })
    const isJson = headers.get('content-type')?.includes('json') && text !== ''
    const body = isJson ? JSON.parse(text) : undefined
    checkErrorDetails(body)
    return { status, headers, text, body }
  }

  get(path: string, headers?: Record<string, string>): Promise<Reply> {
    return this.call('GET', path, headers === undefined ? {} : { headers })
  }

  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply> {
    return this.call('POST', path, { ...(body !== undefined && { body }), ...(headers !== undefined && { headers }) })
  }

  put(path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply> {
    return this.call('PUT', path, { ...(body !== undefined && { body }), ...(headers !== undefined && { headers }) })
  }

  patch(path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply> {
    return this.call('PATCH', path, { ...(body !== undefined && { body }), ...(headers !== undefined && { headers }) })
  }

  delete(path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply> {
    return this.call('DELETE', path, { ...(body !== undefined && { body }), ...(headers !== undefined && { headers }) })
  }
}
