import { setTimeout as sleep } from 'node:timers/promises'
import {
  type FetchLike,
  isInitializeRequest,
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  type JSONRPCErrorResponse,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type RequestId,
  SdkHttpError,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client'

/** Why a bridge ended: the local client has hung up, or the service does not accept the token. */
export type BridgeEnd = 'hung_up' | 'unauthorized'

/** The two ends of a bridge. */
export type BridgeOptions = {
  /** The transport to the local client. The bridge starts it and closes it. */
  local: Transport
  /** The address of `POST /mcp` of the service. */
  endpoint: URL
  /** A bearer token of the service. */
  token: string
  /** Is told once when the service cannot be reached, and once when it answers again. */
  onReachable: (isReachable: boolean) => void
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
  const { local, endpoint, token } = options
  const remote = new StreamableHTTPClientTransport(endpoint, {
    requestInit: {
      headers: { authorization: `Bearer ${token}`, 'user-agent': 'knowledge-base-documents-mcp/1 (stdio)' },
    },
    fetch: patientFetch(options.onReachable),
  })
  const ended = Promise.withResolvers<BridgeEnd>()
  const unanswered = new Map<RequestId, AbortController>()
  let initialization: RequestId | undefined

  // A client that no longer reads needs no answer.
  const answer = (message: JSONRPCMessage) => local.send(message).catch(() => {})

  async function fail(request: JSONRPCRequest, error: unknown): Promise<void> {
    if (!unanswered.delete(request.id)) return
    await answer(errorAnswer(request.id, error))
    if (error instanceof SdkHttpError && error.status === 401) ended.resolve('unauthorized')
  }

  async function forward(message: JSONRPCMessage): Promise<void> {
    if (isCancellation(message)) return cancel(message.params.requestId)
    if (!isJSONRPCRequest(message)) return remote.send(message).catch(() => {})
    if (isInitializeRequest(message)) initialization = message.id
    const controller = new AbortController()
    unanswered.set(message.id, controller)
    const onRequestStreamEnd = () => void fail(message, new Error('The connection to the service broke.'))
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

  remote.onmessage = (message) => {
    if (isJSONRPCResponse(message)) {
      const { id } = message
      if (id !== undefined) unanswered.delete(id)
      if (id === initialization && 'result' in message)
        remote.setProtocolVersion(String(message.result['protocolVersion']))
    }
    void answer(message)
  }
  local.onmessage = (message) => void forward(message)
  local.onclose = () => ended.resolve('hung_up')

  await remote.start()
  await local.start()
  const end = await ended.promise
  await remote.close()
  await local.close()
  return end
}

type Cancellation = JSONRPCMessage & { params: { requestId: RequestId } }

function isCancellation(message: JSONRPCMessage): message is Cancellation {
  if (!isJSONRPCNotification(message) || message.method !== 'notifications/cancelled') return false
  return ['string', 'number'].includes(typeof message.params?.['requestId'])
}

// The answer for a request that the service did not answer itself, or not as JSON-RPC.
function errorAnswer(id: RequestId, error: unknown): JSONRPCErrorResponse {
  if (!(error instanceof SdkHttpError))
    return { jsonrpc: '2.0', id, error: { code: serverError, message: textOf(error) } }
  const body = parsed(error.data['text'])
  if (isJSONRPCErrorResponse(body)) return { ...body, id }
  const said = (body as { error?: { message?: string } } | undefined)?.error?.message
  const message = said ?? `The service answered with the status ${error.status}.`
  return { jsonrpc: '2.0', id, error: { code: serverError, message } }
}

function parsed(text: unknown): unknown {
  try {
    return JSON.parse(String(text))
  } catch {
    return undefined
  }
}

function textOf(error: unknown): string {
  if (isUnreachable(error))
    return 'The service cannot be reached. Ask the person whether it is running, then try again.'
  const reason = error instanceof Error ? error.message : String(error)
  return `The service did not answer, so the call may have been done or not: ${reason}`
}

/**
 * A `fetch` that repeats a POST while nobody listens at the address or the service says that it is starting or ending.
 * In these cases nothing has been done. All other failures are passed on, because the request may have been done.
 */
function patientFetch(onReachable: BridgeOptions['onReachable']): FetchLike {
  let isReachable = true
  const tell = (reachable: boolean) => {
    if (isReachable !== reachable) onReachable(reachable)
    isReachable = reachable
  }
  return async (url, init) => {
    const until = init?.method === 'POST' ? Date.now() + patienceMs : 0
    for (;;) {
      const outcome = await fetch(url, init).catch((error: unknown) => ({ error }))
      const mayRepeat = Date.now() < until
      if ('error' in outcome) {
        if (!isUnreachable(outcome.error)) throw outcome.error
        tell(false)
        if (!mayRepeat) throw outcome.error
      } else if (outcome.status === 503 && mayRepeat) {
        await outcome.body?.cancel()
        tell(false)
      } else {
        tell(true)
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
