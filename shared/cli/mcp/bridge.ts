import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type FetchLike,
  isInitializeRequest,
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  type JSONRPCMessage,
  type JSONRPCRequest,
  ProtocolErrorCode,
  parseJSONRPCMessage,
  type RequestId,
  SdkHttpError,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'

/** Why a bridge ended: the local client has hung up, or the service does not accept the token. */
export type BridgeEnd = 'hung_up' | 'unauthorized'

/** The two ends of a bridge. */
export type BridgeOptions = {
  /** The lines of the local client, each of which is a message. */
  input: Readable
  /** Takes a message for the local client, as a line. */
  write: (line: string) => void
  /** The address of `POST /mcp` of the service. */
  endpoint: URL
  /** A bearer token of the service. */
  token: string
  /** Tells the person what the matter is with the service. */
  tell: (text: string) => void
}

// The code of JSON-RPC for errors that a server defines. The library uses it for a lost connection, too.
const serverError = -32_000

// The codes of failures to connect. The request has not left this machine.
const neverSent = new Set([
  'ECONNREFUSED',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'UND_ERR_CONNECT_TIMEOUT',
])

const retryMs = 500
const patienceMs = 30_000

/**
 * Carries each message of a local MCP client to the endpoint of a service, and each answer back, in the order in which
 * they arrive. The bridge knows no tool and keeps no state of the protocol, so the service may be restarted at any
 * time. A request waits up to 30 seconds for a service that cannot be reached. A request whose connection broke after
 * it was sent gets an error, because it may have been done. Resolves when the bridge has ended.
 */
export async function bridge(options: BridgeOptions): Promise<BridgeEnd> {
  const { input, endpoint, token, tell } = options
  const remote = new StreamableHTTPClientTransport(endpoint, {
    requestInit: {
      headers: { authorization: `Bearer ${token}`, 'user-agent': 'knowledge-base-documents-mcp/1 (stdio)' },
    },
    fetch: patientFetch(options),
  })
  const unanswered = new Map<RequestId, AbortController>()
  let initialization: RequestId | undefined
  let finish: (end: BridgeEnd) => void = () => undefined
  const ended = new Promise<BridgeEnd>((resolve) => {
    finish = resolve
  })

  const answer = (message: object) => options.write(`${JSON.stringify(message)}\n`)
  const refuse = (id: RequestId | null, error: JSONRPCError) => answer({ jsonrpc: '2.0', id, error })

  function fail({ id }: JSONRPCRequest, error: unknown): void {
    if (!unanswered.delete(id)) return
    const told = toldError(error, endpoint)
    refuse(id, told)
    if (!(error instanceof SdkHttpError)) tell(told.message)
    else if (error.status === 401) finish('unauthorized')
  }

  async function forward(message: JSONRPCMessage): Promise<void> {
    if (isCancellation(message)) return cancel(message.params.requestId)
    if (!isJSONRPCRequest(message)) return remote.send(message).catch(() => {})
    if (isInitializeRequest(message)) initialization = message.id
    const controller = new AbortController()
    unanswered.set(message.id, controller)
    const onRequestStreamEnd = () => fail(message, new Error('the connection broke.'))
    await remote
      .send(message, { requestSignal: controller.signal, onRequestStreamEnd })
      .catch((error: unknown) => fail(message, error))
  }

  // Over HTTP a request is cancelled by closing its connection.
  function cancel(id: RequestId): void {
    const controller = unanswered.get(id)
    unanswered.delete(id)
    controller?.abort()
  }

  function receive(line: string): void {
    const value = parsed(line)
    const code = value === undefined ? ProtocolErrorCode.ParseError : ProtocolErrorCode.InvalidRequest
    try {
      void forward(parseJSONRPCMessage(value))
    } catch {
      refuse(null, { code, message: 'The line is no message of JSON-RPC 2.0.' })
    }
  }

  remote.onmessage = (message) => {
    if (isJSONRPCResponse(message)) {
      const { id } = message
      if (id !== undefined) unanswered.delete(id)
      if (id === initialization && 'result' in message)
        remote.setProtocolVersion(String(message.result['protocolVersion']))
    }
    answer(message)
  }
  await remote.start()
  const lines = createInterface({ input })
  lines.on('line', (line) => line.trim() !== '' && receive(line))
  lines.on('close', () => finish('hung_up'))
  const end = await ended
  lines.close()
  await remote.close()
  return end
}

type JSONRPCError = { code: number; message: string; data?: unknown }

type Cancellation = JSONRPCMessage & { params: { requestId: RequestId } }

function isCancellation(message: JSONRPCMessage): message is Cancellation {
  if (!isJSONRPCNotification(message) || message.method !== 'notifications/cancelled') return false
  return ['string', 'number'].includes(typeof message.params?.['requestId'])
}

// The error of a request that the service did not answer itself, or not as JSON-RPC.
function toldError(error: unknown, { origin }: URL): JSONRPCError {
  if (error instanceof SdkHttpError) {
    const body = parsed(String(error.data['text']))
    if (isJSONRPCErrorResponse(body)) return body.error
    const said = (body as { error?: { message?: string } } | undefined)?.error?.message
    return { code: serverError, message: said ?? `${origin} answered with the status ${error.status}.` }
  }
  const reason = error instanceof Error ? error.message : String(error)
  const message = isUnreachable(error)
    ? `${origin} cannot be reached. Ask the person whether the service is running, then try again.`
    : `${origin} did not answer, so the call may have been done or not: ${reason}`
  return { code: serverError, message }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * A `fetch` that repeats a POST while nobody listens at the address or the service says that it is starting or ending.
 * In these cases nothing has been done. All other failures are passed on, because the request may have been done.
 */
function patientFetch({ endpoint: { origin }, tell }: BridgeOptions): FetchLike {
  let isReachable = true
  const note = (reachable: boolean) => {
    if (isReachable !== reachable)
      tell(reachable ? `${origin} answers again` : `waiting for ${origin}, which does not answer`)
    isReachable = reachable
  }
  return async (url, init) => {
    const until = init?.method === 'POST' ? Date.now() + patienceMs : 0
    for (;;) {
      const outcome = await fetch(url, init).catch((error: unknown) => ({ error }))
      const mayRepeat = Date.now() < until
      if ('error' in outcome) {
        if (!isUnreachable(outcome.error)) throw outcome.error
        note(false)
        if (!mayRepeat) throw outcome.error
      } else if (outcome.status === 503 && mayRepeat) {
        await outcome.body?.cancel()
        note(false)
      } else {
        note(true)
        return outcome
      }
      await sleep(retryMs, undefined, init?.signal ? { signal: init.signal } : {})
    }
  }
}

function isUnreachable(error: unknown): boolean {
  const { cause } = error as { cause?: { code?: string } }
  return neverSent.has(cause?.code ?? '')
}
