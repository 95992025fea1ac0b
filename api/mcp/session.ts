import type { Request, Response } from 'express'
import type { Caller } from '../../shared/auth/caller.ts'
import { Refusal } from '../../shared/errors/errors.ts'
import { agentClient } from '../../shared/requests/client.ts'
import { authenticate } from '../http/authenticate.ts'
import { asRefusal, logFailure } from '../http/errors.ts'
import { parseIdempotencyKey } from '../http/idempotency.ts'
import { addressOf } from '../http/requesters.ts'
import type { Service } from '../http/service.ts'
import type { doors } from './door.ts'
import type { ToolUse } from './tool.ts'

/** What the endpoint hands to the server of one request, past the protocol. */
export type Session = { use: ToolUse; requestId: string }

// The member of `_meta` of a request with which a client repeats a call of a tool safely.
const idempotencyMember = 'svc/idempotency-key'

// A client of 2026 names itself in every request. A client of 2025 names itself only when it connects, and afterwards
// by its User-Agent.
const clientInfoMember = 'io.modelcontextprotocol/clientInfo'

// How long a caller counts as authenticated, in milliseconds. A tool that waits is told of a revocation afterwards.
const identifiedMs = 1000

/**
 * Opens the door for one message of a caller. Refuses with 400 `invalid_idempotency_key` a key in `_meta` that is none.
 */
export function openSession(
  service: Service,
  message: {
    openDoor: ReturnType<typeof doors>
    request: Request
    response: Response
    caller: Caller
    message: unknown
    signal: AbortSignal
  },
): Session {
  const { openDoor, request, response, caller, signal } = message
  const meta = metaOf(message.message)
  const requestId = response.locals['requestId'] as string
  const door = openDoor({
    identify: identifiedFor(service, { request, caller }),
    address: addressOf(request),
    requestId,
    client: agentClient(meta[clientInfoMember], request.headers['user-agent']),
    idempotencyKey: keyOf(meta),
    // The answer to a client of 2025 is a stream, which has begun before its tool runs.
    setHeaders: (headers) => void (response.headersSent || response.set(headers)),
    signal,
  })
  return {
    use: { door, signal, refusalOf: refusals(service, { requestId, message: message.message, signal }) },
    requestId,
  }
}

function refusals(
  { log }: Service,
  { requestId, message, signal }: { requestId: string; message: unknown; signal: AbortSignal },
): ToolUse['refusalOf'] {
  return (error) => {
    const refusal = asRefusal(error)
    // When nobody waits for the answer, the work was broken off, which is no failure.
    if (refusal.status >= 500 && !signal.aborted) {
      const { method, params } = message as { method?: string; params?: { name?: string } }
      const tool = method === 'tools/call' ? { tool: params?.name } : {}
      logFailure(log, { request_id: requestId, method, ...tool, refusal })
    }
    return refusal
  }
}

function identifiedFor(service: Service, { request, caller }: { request: Request; caller: Caller }) {
  const until = Date.now() + identifiedMs
  return async () => {
    if (Date.now() < until) return caller
    return authenticate(service, { authorization: request.headers.authorization, resource: 'mcp' })
  }
}

function metaOf(message: unknown): Record<string, unknown> {
  const meta = (message as { params?: { _meta?: unknown } } | null)?.params?._meta
  return typeof meta === 'object' && meta !== null ? (meta as Record<string, unknown>) : {}
}

function keyOf(meta: Record<string, unknown>): string | null {
  const key = meta[idempotencyMember]
  if (key !== undefined && typeof key !== 'string') throw new Refusal('invalid_idempotency_key')
  return parseIdempotencyKey(key)
}
