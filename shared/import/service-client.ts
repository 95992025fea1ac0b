import { setTimeout as sleep } from 'node:timers/promises'
import createClient, { type Client } from 'openapi-fetch'
import type { components, paths } from './openapi.d.ts'

/** The operations of the public API that an import calls, typed by the API's own description. */
export type ServiceClient = Client<paths>

/** A document as `POST /documents` takes it. */
export type DocumentInput = components['schemas']['DocumentCreateInput']

/** The metadata of a new document: everything but its id, its location and its body. */
export type PlannedMetadata = Omit<DocumentInput, 'id' | 'knowledge_base_id' | 'folder_id' | 'content'>

/** A body as the API takes it: Tiptap JSON or Markdown. */
export type PlannedContent = components['schemas']['ContentInput']

/** An error that ends an import. The message is for the person who imports. */
export class ImportError extends Error {}

/** An error by which the service says that no request of this import can succeed. */
export class FinalRefusal extends ImportError {}

type ClientOptions = {
  origin: string
  token: string
  /** Is called before each pause, with its length in seconds. */
  onWait: (seconds: number) => void
}

type Answered = { response: Response } & ErrorBody

type Outcome = Answered | { failed: boolean; retryAfter: number | undefined; reason: string }

type ErrorBody = { error?: { code?: string; message?: string } }

/**
 * Failed attempts of one call before the import gives up. The last pauses take 30 s each, so an import outlasts a
 * restart of the service.
 */
const failureLimit = 12
const longestPause = 30
const timeoutMs = 300_000
const fatalCodes = new Set(['quota_exceeded', 'route_not_found', 'knowledge_base_not_found'])

/**
 * A client of the public API like any other. Each call waits as long as the service asks, and is sent again for some
 * minutes while the service or the network fails. A call throws an ImportError when the service stays away. A call
 * throws a FinalRefusal when the token lacks a right, or when the knowledge base is missing or full.
 */
export function serviceClient(options: ClientOptions): ServiceClient {
  return createClient<paths>({
    baseUrl: `${options.origin}/api/v1`,
    headers: {
      authorization: `Bearer ${options.token}`,
      'user-agent': 'knowledge-base-documents-import/1 (import)',
    },
    fetch: (request) => untilAnswered(request, options),
  })
}

async function untilAnswered(request: Request, { origin, onWait }: ClientOptions): Promise<Response> {
  for (let failures = 0; ; ) {
    const outcome = await attempt(request.clone())
    if ('response' in outcome) {
      requirePermission(request, outcome)
      return outcome.response
    }
    if (outcome.failed) failures += 1
    if (failures > failureLimit) throw new ImportError(`${origin} does not answer: ${outcome.reason}`)
    const seconds = outcome.retryAfter ?? Math.min(longestPause, 2 ** failures / 2)
    onWait(seconds)
    await sleep(seconds * 1000)
  }
}

async function attempt(request: Request): Promise<Outcome> {
  try {
    // Without redirects the token reaches only the service that the person named.
    const response = await fetch(request, { redirect: 'error', signal: AbortSignal.timeout(timeoutMs) })
    const { status } = response
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false
    const { error } = isJson ? (JSON.parse(text) as ErrorBody) : {}
    if (status === 429 || error?.code === 'idempotency_in_progress') {
      const retryAfter = Number(response.headers.get('retry-after') ?? '1')
      return { failed: false, retryAfter, reason: 'it asks to wait' }
    }
    if (status >= 500) return { failed: true, retryAfter: undefined, reason: `${status}` }
    return { response: new Response(isJson ? text : null, { status }), error }
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error
    return { failed: true, retryAfter: undefined, reason: String(cause) }
  }
}

function requirePermission({ method, url }: Request, { response, error }: Answered): void {
  const { status } = response
  const { code = '', message = '' } = error ?? {}
  if (status !== 401 && status !== 403 && !fatalCodes.has(code)) return
  const path = new URL(url).pathname.replace('/api/v1', '')
  throw new FinalRefusal(`${method} ${path}: ${status} ${code}: ${message}`)
}
