import { setTimeout as sleep } from 'node:timers/promises'
import OpenAI, { APIConnectionTimeoutError, APIError, APIUserAbortError } from 'openai'
import pLimit from 'p-limit'
import type { Config } from '../config/config.ts'
import { type ModelAnswer, ModelError, type ModelRequest, type Models } from './model.ts'

/** What has to be known of a provider. */
export type ProviderConfig = Pick<
  Config,
  'OPENAI_API_KEY' | 'OPENAI_BASE_URL' | 'MODEL_TIMEOUT_MS' | 'MODEL_CONCURRENCY'
>

/**
 * Opens the provider (decisions 10): `POST /chat/completions`, not streamed. At most MODEL_CONCURRENCY calls run at a
 * time, each for at most MODEL_TIMEOUT_MS. What the provider is too busy for, or fails at, is asked again twice, after
 * as long as it asks to be left alone; that wait keeps the place of the call, so that a provider that has had enough is
 * not asked other things instead. A call that ran out of time is not repeated here: it may have been paid for.
 */
export function openProvider(config: ProviderConfig): Models {
  const limit = pLimit(config.MODEL_CONCURRENCY)
  // Its own log would show documents, its own retries repeat timeouts and ignore a Retry-After of over a minute.
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

const vendor = 'https://api.openai.com/v1'
const retries = 2
// Who asks for a longer pause is asked again by a later attempt of the job.
const longestPauseMs = 60_000

// Far more than any answer that can be used, and little enough to be read by a process that does other things as well.
const longestAnswer = 2 ** 21

// The client reads a whole answer, however long it is.
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
  // The client's own timeout ends with the headers of the answer; this one bounds the whole of it.
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

// The provider is somebody else's program, so the shape of what it sends is not taken for granted.
function answerOf(completion: OpenAI.ChatCompletion | undefined): ModelAnswer {
  const content = completion?.choices?.[0]?.message?.content
  // What PostgreSQL cannot store would fail again and again, and be paid for each time.
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

/** How long to wait before asking again, in ms; null when asking again is of no use. */
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

// The causes are for operators: the host of the provider, its status and what the system says, never its own words.
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
