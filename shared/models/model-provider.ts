import { setTimeout as sleep } from 'node:timers/promises'
import OpenAI, { APIConnectionTimeoutError, APIError, APIUserAbortError } from 'openai'
import pLimit from 'p-limit'
import type { Config } from '../config/config.ts'
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
 * instead. A call that ran out of time is not repeated, because it may have been paid for.
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
  return { ask: (request, signal) => limit(() => askAgain({ client, host, request, timeout, signal })) }
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
  request: ModelRequest
  timeout: number
  signal: AbortSignal | undefined
}

async function askAgain(call: Call): Promise<ModelAnswer> {
  for (let retry = 0; ; retry += 1) {
    try {
      return await askOnce(call)
    } catch (error) {
      const pauseMs = pauseBefore(error, retry)
      if (pauseMs === null || retry === retries || pauseMs > longestPauseMs) throw asModelError(error, call)
      await sleep(pauseMs, undefined, { ...(call.signal !== undefined && { signal: call.signal }) })
    }
  }
}

async function askOnce({ client, request, timeout, signal }: Call): Promise<ModelAnswer> {
  signal?.throwIfAborted()
  const { model, system, user, schema } = request
  // The client's own timeout covers only the headers of the answer. The signal `late` covers the whole answer.
  const late = AbortSignal.timeout(timeout)
  try {
    const completion = await client.chat.completions.create(
      {
        model,
        messages: [
          { role: 'system', content: system },
          { role: 'user', content: user },
        ],
        ...(schema !== undefined && {
          response_format: { type: 'json_schema', json_schema: { ...schema, strict: true } },
        }),
      },
      { timeout, signal: signal === undefined ? late : AbortSignal.any([signal, late]) },
    )
    return answerOf(completion)
  } catch (error) {
    if (error instanceof APIUserAbortError) signal?.throwIfAborted()
    throw error
  }
}

// The provider is a foreign program, so its answers may have any shape.
function answerOf(completion: OpenAI.ChatCompletion | undefined): ModelAnswer {
  const content = completion?.choices?.[0]?.message?.content
  // PostgreSQL stores neither U+0000 nor lone surrogates. Without this line the job would fail and be paid for again.
  const text = typeof content === 'string' ? content.toWellFormed().replaceAll('\u0000', '') : ''
  if (text.trim() === '') {
    throw new ModelError('model_bad_output', { message: 'The model gave no answer.', transient: false })
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

function isTransient({ status }: APIError): boolean {
  return status === undefined || status === 408 || status === 409 || status === 429 || status >= 500
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
  const message = status === undefined ? 'The model cannot be reached.' : `The model provider answered ${status}.`
  const cause =
    status === undefined
      ? new Error(`${host} cannot be reached`, { cause: error.cause })
      : new Error(`${host} answered ${status}`)
  return new ModelError('model_error', { message, transient: isTransient(error), cause })
}
