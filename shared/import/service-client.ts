import { setTimeout as sleep } from 'node:timers/promises'

/** What the service answered, other than by asking to wait; `body` is the envelope. */
export type Answer = {
  status: number
  body: { data?: Record<string, unknown>; error?: { code: string; message: string } }
}

/** A call; `key` makes that it is done once however often it is sent. */
export type Request = {
  method: 'GET' | 'POST' | 'PUT'
  path: string
  json?: unknown
  form?: () => FormData
  key?: string
  ifMatch?: string
}

/** What ends an import, as opposed to what one document is refused for; the message is for the person. */
export class ImportError extends Error {}

/** The service answered that no request of this import can succeed. */
export class FinalRefusal extends ImportError {}

/**
 * Calls the public API as any client does. It waits as long as the service asks it to, and tries again when the service
 * or the way to it fails, for some minutes.
 */
export class ServiceClient {
  readonly #origin: string
  readonly #token: string
  readonly #onWait: (seconds: number) => void

  constructor(options: { origin: string; token: string; onWait: (seconds: number) => void }) {
    this.#origin = options.origin
    this.#token = options.token
    this.#onWait = options.onWait
  }

  /** Sends the request until it is answered; refuses what no other request could succeed after. */
  async send(request: Request): Promise<Answer> {
    for (let failures = 0; ; ) {
      const reply = await this.#try(request)
      if (reply.answer !== null) {
        requirePermission(request, reply.answer)
        return reply.answer
      }
      if (reply.failed) failures += 1
      if (failures > longestOutage) throw new ImportError(`${this.#origin} does not answer: ${reply.reason}`)
      const seconds = reply.retryAfter ?? Math.min(30, 2 ** failures / 2)
      this.#onWait(seconds)
      await sleep(seconds * 1000)
    }
  }

  async #try(request: Request): Promise<Outcome> {
    try {
      const response = await fetch(`${this.#origin}/api/v1${request.path}`, this.#options(request))
      const retryAfter = Number(response.headers.get('retry-after') ?? '1')
      const text = await response.text()
      const body = isJson(response) ? (JSON.parse(text) as Answer['body']) : {}
      const code = body.error?.code
      if (response.status === 429 || code === 'idempotency_in_progress') {
        return { answer: null, failed: false, retryAfter, reason: 'it asks to wait' }
      }
      if (response.status >= 500)
        return { answer: null, failed: true, retryAfter: undefined, reason: `${response.status}` }
      return { answer: { status: response.status, body } }
    } catch (error) {
      const cause = error instanceof Error ? (error.cause ?? error) : error
      return { answer: null, failed: true, retryAfter: undefined, reason: String(cause) }
    }
  }

  #options({ method, json, form, key, ifMatch }: Request): RequestInit {
    const body = form === undefined ? (json === undefined ? undefined : JSON.stringify(json)) : form()
    return {
      method,
      // The token goes to the service that was named, and to nobody whom that one names.
      redirect: 'error',
      signal: AbortSignal.timeout(300_000),
      headers: {
        authorization: `Bearer ${this.#token}`,
        'user-agent': 'knowledge-base-documents-import/1 (import)',
        ...(json !== undefined && { 'content-type': 'application/json' }),
        ...(key !== undefined && { 'idempotency-key': key }),
        ...(ifMatch !== undefined && { 'if-match': ifMatch }),
      },
      ...(body !== undefined && { body }),
    }
  }
}

type Outcome = { answer: Answer } | { answer: null; failed: boolean; retryAfter: number | undefined; reason: string }

// Tries in a row, at half a minute each in the end: a restart or a deploy is waited for.
const longestOutage = 12

function isJson(response: Response): boolean {
  return response.headers.get('content-type')?.startsWith('application/json') ?? false
}

const fatalCodes = new Set(['quota_exceeded', 'route_not_found', 'knowledge_base_not_found'])

function requirePermission({ method, path }: Request, { status, body }: Answer): void {
  const { code, message } = body.error ?? { code: '', message: '' }
  const isFinal = status === 401 || status === 403 || fatalCodes.has(code)
  if (isFinal) throw new FinalRefusal(`${method} ${path}: ${status} ${code}: ${message}`)
}
