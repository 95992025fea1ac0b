import { type ErrorCode, KnowledgeBaseError } from './errors.ts'

/** How one attempt failed. */
export type Failure = {
  /**
   * Which calls may be repeated. It is any call if this attempt had no effect, or calls that may run twice without
   * another effect. It is none if the same request fails again.
   */
  repeat: 'any' | 'repeatable' | 'none'
  /** Whether the service may have carried the request out. */
  mayHaveRun: boolean
  error: (facts: { outcomeUnknown: boolean }) => KnowledgeBaseError
}

type Called = { method: string; url: string }

/** The failure of an attempt with an answer that is no success. `text` is the body of the answer, null unless JSON. */
export function failedAnswer(called: Called, answer: { response: Response; text: string | null }): Failure {
  const { response, text } = answer
  const { status, headers } = response
  if (status === 304) return final(called, { code: 'not_modified', reason: 'the resource has not changed', status })
  if (response.type === 'opaqueredirect' || (status >= 300 && status < 400)) {
    const reason = 'the address answers with a redirect; name the address to which it leads as origin'
    return final(called, { code: 'redirected', reason, status })
  }
  const refusal = text === null ? null : refusalOf(text)
  const code = refusal?.code ?? 'unexpected_answer'
  const reason = refusal?.message ?? 'this is no answer of the service'
  return {
    ...repetitionOf(status, code),
    error: ({ outcomeUnknown }) =>
      new KnowledgeBaseError(`${nameOf(called)}: ${status} ${code}: ${reason}`, {
        code,
        reason,
        status,
        details: refusal?.details,
        requestId: headers.get('x-request-id') ?? undefined,
        retryAfter: secondsOf(headers.get('retry-after')),
        outcomeUnknown,
      }),
  }
}

/** The failure of an attempt without an answer. `timeout` is the time limit if the limit has ended the attempt. */
export function failedConnection(
  called: Called,
  { cause, timeout }: { cause: unknown; timeout: number | null },
): Failure {
  const late = timeout !== null
  const reason = late ? `no answer within ${timeout} ms` : `no answer from ${new URL(called.url).origin}`
  const system = late ? undefined : systemCodeOf(cause)
  const message = `${nameOf(called)}: ${reason}${system === undefined ? '' : ` (${system})`}`
  return {
    repeat: 'repeatable',
    mayHaveRun: true,
    error: ({ outcomeUnknown }) =>
      new KnowledgeBaseError(message, { code: late ? 'timeout' : 'connection_failed', reason, outcomeUnknown, cause }),
  }
}

function final(called: Called, { code, reason, status }: { code: ErrorCode; reason: string; status: number }): Failure {
  return {
    repeat: 'none',
    mayHaveRun: false,
    error: ({ outcomeUnknown }) =>
      new KnowledgeBaseError(`${nameOf(called)}: ${reason}`, { code, reason, status, outcomeUnknown }),
  }
}

function repetitionOf(status: number, code: ErrorCode): Pick<Failure, 'repeat' | 'mayHaveRun'> {
  // A call beyond a rate limit was refused before it did anything. The quota of a day does not pass within a call.
  if (status === 429 && code !== 'translation_quota_exceeded') return { repeat: 'any', mayHaveRun: false }
  if (code === 'idempotency_in_progress') return { repeat: 'any', mayHaveRun: true }
  // A service without a model stays so until its operator configures one.
  if (code === 'model_unavailable') return { repeat: 'none', mayHaveRun: false }
  if ([502, 503, 504].includes(status)) return { repeat: 'repeatable', mayHaveRun: true }
  return { repeat: 'none', mayHaveRun: status >= 500 }
}

// The query is left out, since it may hold what a person searches for.
function nameOf({ method, url }: Called): string {
  return `${method} ${new URL(url).pathname}`
}

type Refusal = { code: string; message: string; details?: Record<string, unknown> }

function refusalOf(text: string): Refusal | null {
  try {
    const { error } = JSON.parse(text) as { error?: Partial<Refusal> }
    if (typeof error?.code !== 'string') return null
    return { message: '', ...error, code: error.code }
  } catch {
    return null
  }
}

function secondsOf(header: string | null): number | undefined {
  if (header === null) return undefined
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined
}

// Such as ECONNREFUSED. The message of the cause is not repeated, since it might quote a header.
function systemCodeOf(cause: unknown): string | undefined {
  for (let error = cause; error instanceof Error; error = error.cause) {
    if ('code' in error && typeof error.code === 'string') return error.code
  }
  return undefined
}
