import { setTimeout as sleep } from 'node:timers/promises'
import OpenAI, { APIConnectionTimeoutError, APIError, APIUserAbortError } from 'openai'
import pLimit from 'p-limit'
import type { Config } from '../config/config.ts'
import { answerText, requireWhole } from './answer-text.ts'
import { type ModelAnswer, ModelError, type ModelRequest, type Models } from './model.ts'

const vendor = 'https://api.openai.com/v1'
const retries = 2
// The longest pause between two tries. When the provider asks for a longer pause, the call fails, and a later attempt
// of the job calls again.
const longestPauseMs = 60_000

// The longest answer in bytes: far more than any usable answer, and few enough for the memory of a process that has
// other work.
const longestAnswer = 2 ** 21

/** The settings of the model provider. */
export type ProviderConfig = Pick<
  Config,
  'OPENAI_API_KEY' | 'OPENAI_BASE_URL' | 'MODEL_TIMEOUT_MS' | 'MODEL_CONCURRENCY'
>

/**
 * Opens a provider that answers `POST /chat/completions`, without streaming. At most MODEL_CONCURRENCY calls run at a
 * time, each for at most MODEL_TIMEOUT_MS. A call that meets a busy or failing provider is repeated up to twice, after
 * the pause that the provider asks for. The pause counts as a running call, so that a busy provider gets no other calls
 * instead. A call that ran out of time is not repeated, because it may have been paid for. A request that the provider
 * refuses is sent in a simpler form, which is then used for all later requests to the same model.
 */
export function openProvider(config: ProviderConfig): Models {
  const limit = pLimit(config.MODEL_CONCURRENCY)
  // The client's own log is off, because it would show documents. The client's retries are off, because they repeat
  // timeouts and ignore long values of Retry-After.
  const client = new OpenAI({
    apiKey: config.OPENAI_API_KEY || 'unconfigured',
    baseURL: config.OPENAI_BASE_URL || vendor,
    maxRetries: 0,
    logLevel: 'off',
    fetch: boundedFetch,
  })
  const timeout = config.MODEL_TIMEOUT_MS
  const { host } = new URL(client.baseURL)
  const accepted = new Map<string, Form>()
  return { ask: (request, signal) => limit(() => askAgain({ client, host, accepted, request, timeout, signal })) }
}

// The client reads answers of any length, so the length is bounded here.
async function boundedFetch(url: string | URL | Request, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, init)
  let bytes = 0
  const bounded = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.byteLength
      if (bytes <= longestAnswer) return controller.enqueue(chunk)
      const message = 'The answer of the model is too long.'
      throw new ModelError('model_bad_output', { message, transient: false })
    },
  })
  return new Response(response.body?.pipeThrough(bounded) ?? null, response)
}

type Call = {
  client: OpenAI
  host: string
  /** The form of request that each model has accepted. */
  accepted: Map<string, Form>
  request: ModelRequest
  timeout: number
  signal: AbortSignal | undefined
}

/** The form of a request: how it asks for JSON, and the role of the instruction. Some models know no `system`. */
type Form = { format: (typeof formats)[number]; role: 'system' | 'user' }

const formats = ['json_schema', 'json_object', 'none'] as const

async function askAgain(call: Call): Promise<ModelAnswer> {
  const { accepted, request, signal } = call
  let form: Form = accepted.get(request.model) ?? { format: 'json_schema', role: 'system' }
  for (let retry = 0; ; ) {
    try {
      const completion = await askOnce(call, form)
      accepted.set(request.model, form)
      return answerOf(completion)
    } catch (error) {
      const simpler = simplerForm(form, { request, error })
      if (simpler !== null) {
        form = simpler
        continue
      }
      const pauseMs = pauseBefore(error, retry)
      if (pauseMs === null || retry === retries || pauseMs > longestPauseMs) throw asModelError(error, call)
      await sleep(pauseMs, undefined, { ...(signal !== undefined && { signal }) })
      retry += 1
    }
  }
}

// The form to try after an error that may come from the form of the request, or null. Providers word such an error as
// they like, so any refusal of the request counts; one that names the role counts as a refusal of the role.
function simplerForm({ format, role }: Form, input: { request: ModelRequest; error: unknown }): Form | null {
  const { request, error } = input
  if (!(error instanceof APIError) || error.status === undefined) return null
  const words = `${error.message} ${JSON.stringify(error.error ?? null)}`
  const refused = [400, 404, 415, 422, 501].includes(error.status)
  if (role === 'system' && (refused || error.status === 500) && /\b(system|developer|roles?)\b/i.test(words)) {
    return { format, role: 'user' }
  }
  const isAboutFormat = error.status >= 500 && /response_?format|json_?schema|json_object|grammar|guided/i.test(words)
  const next = formats[formats.indexOf(format) + 1]
  return request.schema !== undefined && next !== undefined && (refused || isAboutFormat)
    ? { format: next, role }
    : null
}

async function askOnce({ client, request, timeout, signal }: Call, form: Form): Promise<Completion> {
  signal?.throwIfAborted()
  const { model, user } = request
  // The client's own timeout covers only the headers of the answer. The signal `late` covers the whole answer.
  const late = AbortSignal.timeout(timeout)
  try {
    const completion: unknown = await client.chat.completions.create(
      { model, messages: [...instruction(request, form), { role: 'user', content: user }], ...formatOf(request, form) },
      { timeout, signal: signal === undefined ? late : AbortSignal.any([signal, late]) },
    )
    // The client parses only what is declared as JSON.
    return completionOf(typeof completion === 'string' ? JSON.parse(completion) : completion)
  } catch (error) {
    if (error instanceof APIUserAbortError) signal?.throwIfAborted()
    throw error
  }
}

function instruction({ system, schema }: ModelRequest, { format, role }: Form): OpenAI.ChatCompletionMessageParam[] {
  const isTold = schema === undefined || format === 'json_schema'
  const content = isTold ? system : `${system}\nThe JSON schema: ${JSON.stringify(schema.schema)}`
  // Models that know no `system` often want the roles to alternate.
  return role === 'system'
    ? [{ role, content }]
    : [
        { role, content },
        { role: 'assistant', content: 'OK' },
      ]
}

function formatOf({ schema }: ModelRequest, { format }: Form) {
  if (schema === undefined || format === 'none') return {}
  if (format === 'json_object') return { response_format: { type: format } } as const
  return { response_format: { type: format, json_schema: { ...schema, strict: true } } } as const
}

// The provider is a foreign program, so its answers may have any shape.
type Completion = {
  choices?: { message?: { content?: unknown; refusal?: unknown }; finish_reason?: unknown; error?: unknown }[]
  usage?: { prompt_tokens?: unknown; completion_tokens?: unknown }
  [member: string]: unknown
} | null

// Returns the body of an answer with status 200. Throws an APIError for a body that tells of an error.
function completionOf(body: unknown): Completion {
  const completion = body as Completion
  const choice = completion?.choices?.[0]
  const error = choice?.error ?? (choice === undefined ? errorIn(completion) : null)
  if (error == null) return completion
  const { code, status, http_code } = error as Record<string, unknown>
  const told = [code, status, http_code].map(Number).find((number) => number >= 400 && number < 600)
  throw new APIError(told ?? 200, error, undefined, new Headers())
}

// The error in a body that holds no answer. A body without the member `choices` is taken for an error itself.
function errorIn(completion: Completion): unknown {
  if (completion === null || typeof completion !== 'object') return null
  const { error, errors, choices } = completion
  return error ?? (Array.isArray(errors) ? errors[0] : null) ?? (choices == null ? completion : null)
}

function answerOf(completion: Completion): ModelAnswer {
  const choice = completion?.choices?.[0]
  requireWhole(choice?.finish_reason)
  // PostgreSQL stores neither U+0000 nor lone surrogates. Without this line the job would fail and be paid for again.
  const text = answerText(choice?.message?.content).toWellFormed().replaceAll('\u0000', '')
  if (text.trim() === '') {
    const message = choice?.message?.refusal ? 'The model refused to answer.' : 'The model gave no answer.'
    throw new ModelError('model_bad_output', { message, transient: false })
  }
  const { prompt_tokens, completion_tokens } = completion?.usage ?? {}
  return { text, usage: { input_tokens: tokens(prompt_tokens), output_tokens: tokens(completion_tokens) } }
}

function tokens(count: unknown): number {
  return Number.isSafeInteger(count) && Number(count) > 0 ? Number(count) : 0
}

// The pause before the next try in milliseconds; null when another try is of no use.
function pauseBefore(error: unknown, retry: number): number | null {
  if (!(error instanceof APIError) || isTimeout(error) || !isTransient(error)) return null
  return retryAfterMs(error.headers?.get('retry-after')) ?? 500 * 2 ** retry * (1 + Math.random() / 2)
}

function retryAfterMs(header: string | null | undefined): number | null {
  if (header == null || header.trim() === '') return null
  const ms = Number.isNaN(Number(header)) ? Date.parse(header) - Date.now() : Number(header) * 1000
  return Number.isNaN(ms) ? null : Math.max(0, ms)
}

function isTimeout(error: APIError): boolean {
  return error instanceof APIConnectionTimeoutError || error instanceof APIUserAbortError
}

// An error with status 200 does not say whether it will pass.
function isTransient({ status }: APIError): boolean {
  return status === undefined || status === 200 || status === 408 || status === 409 || status === 429 || status >= 500
}

// Causes are for operators. A cause names the host of the provider, the HTTP status and the error of the operating
// system, never the provider's words.
function asModelError(error: unknown, { host, timeout }: Call): unknown {
  if (error instanceof SyntaxError) {
    const options = { message: 'The answer of the model is not JSON.', transient: false, cause: new Error(host) }
    return new ModelError('model_bad_output', options)
  }
  if (!(error instanceof APIError)) return error
  if (isTimeout(error)) {
    const cause = new Error(`${host} has not answered within ${timeout} ms`)
    return new ModelError('model_timeout', { message: 'The model took too long.', transient: true, cause })
  }
  const { status } = error
  const answered = status === 200 ? 'with an error' : status
  const message = status === undefined ? 'The model cannot be reached.' : `The model provider answered ${answered}.`
  const cause =
    status === undefined
      ? new Error(`${host} cannot be reached`, { cause: error.cause })
      : new Error(`${host} answered ${status}`)
  return new ModelError('model_error', { message, transient: isTransient(error), cause })
}
