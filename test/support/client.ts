import { checkErrorDetails } from './error-details.ts'

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
 * A small HTTP client like that of any third party, with fetch, JSON and a bearer token. It compares the details of
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
    const response = await fetch(url, {
      method,
      redirect: 'manual',
      headers: {
        ...(this.bearer !== undefined && { authorization: `Bearer ${this.bearer}` }),
        ...(payload !== undefined && { 'content-type': 'application/json' }),
        ...options.headers,
      },
      ...(payload !== undefined && { body: payload }),
    })
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
    const text = isStream ? await firstPart(response) : await response.text()
    const isJson = response.headers.get('content-type')?.includes('json') && text !== ''
    const body = isJson ? JSON.parse(text) : undefined
    checkErrorDetails(body)
    return { status: response.status, headers: response.headers, text, body }
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

// A stream never ends by itself, so only its beginning is read. `event-streams.ts` reads whole streams.
async function firstPart(response: Response): Promise<string> {
  const reader = response.body?.getReader()
  const { value } = (await reader?.read()) ?? {}
  await reader?.cancel()
  return new TextDecoder().decode(value)
}
