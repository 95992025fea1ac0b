import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import {
  type AuthInfo,
  createMcpHandler,
  isInitializeRequest,
  type McpHttpHandler,
  type ServerEventBus,
} from '@modelcontextprotocol/server'
import { type Request as HttpRequest, type Response as HttpResponse, Router } from 'express'
import type { Caller } from '../../shared/auth/caller.ts'
import { scopes } from '../../shared/auth/scopes.ts'
import { Refusal } from '../../shared/errors/errors.ts'
import { descriptionVersion } from '../docs/openapi.ts'
import { authenticate } from '../http/authenticate.ts'
import { isDeeperThan } from '../http/json-depth.ts'
import { jsonTextReader } from '../http/payload.ts'
import { identify, showRateLimit } from '../http/pipeline.ts'
import { addressOf, closeSignal } from '../http/requesters.ts'
import type { Route } from '../http/route.ts'
import type { Service } from '../http/service.ts'
import { doors } from './door.ts'
import { mcpServer, type ServerParts } from './server.ts'
import { openSession, type Session } from './session.ts'
import { listenMethod, subscribe } from './subscriptions.ts'
import { tools } from './tools.ts'

/** The path of the MCP endpoint. */
const mcpPath = '/mcp'

// The largest message in bytes. No model writes a longer text in one call, and parsing takes a few milliseconds.
const mostBytes = 1024 * 1024

// The most levels of a message. The arguments of the tools have fewer than ten.
const maxDepth = 64

type Exchange = { request: HttpRequest; response: HttpResponse }

/**
 * Serves the MCP endpoint (api/guide/mcp.md). Its messages are those of the protocol 2026-07-28, and of the clients of
 * 2025, which are served without sessions. A request needs a bearer token; cookies are never looked at. A wrong
 * request is answered by a status of HTTP, and a wrong call of a tool by a result with `isError`.
 */
export function mcpRouter(service: Service, routes: readonly Route[]): Router {
  const serve = messageServer(service, routes)
  const router = Router({ caseSensitive: true, strict: true })
  router.all(mcpPath, async (request, response) => {
    response.locals['route'] = mcpPath
    if (request.method === 'OPTIONS') {
      response.set('Allow', allow.join(', ')).status(204).end()
      return
    }
    if (request.method !== 'POST') {
      throw new Refusal('method_not_allowed', { details: { allow }, headers: { Allow: allow.join(', ') } })
    }
    response.set('Cache-Control', 'no-store').vary('Authorization')
    await serve(request, response)
  })
  return router
}

const allow = ['POST', 'OPTIONS']

function messageServer(service: Service, routes: readonly Route[]) {
  const parts = { service, tools, info }
  const shared = protocolHandler(parts)
  const openDoor = doors(service, routes)
  const readText = jsonTextReader(Math.min(mostBytes, service.config.BODY_MAX_BYTES))
  return async (request: HttpRequest, response: HttpResponse): Promise<void> => {
    if (!isAllowedOrigin(service, request.headers.origin)) {
      answerProtocolError(response, {
        status: 403,
        code: -32000,
        message: 'Pages of this origin may not call the service',
      })
      return
    }
    const caller = await admitCaller(service, { request, response })
    const { text } = await readText(request, response, ['application/json'])
    const message = parseMessage(text)
    if (message === undefined) {
      answerProtocolError(response, { code: -32700, message: 'Parse error: the body is not valid JSON' })
    } else if (Array.isArray(message)) {
      answerProtocolError(response, { code: -32600, message: 'Invalid request: batches are not supported' })
    } else if (typeof message === 'object' && message !== null && isDeeperThan(maxDepth, message)) {
      answerProtocolError(response, { code: -32600, message: `Invalid request: nested deeper than ${maxDepth} levels` })
    } else if (request.headers['mcp-protocol-version'] === undefined && isWrongInitialize(message)) {
      const id = (message as { id?: string | number }).id ?? null
      const expected = 'initialize needs a protocolVersion, capabilities and clientInfo with name and version'
      answerProtocolError(response, { status: 200, code: -32602, message: `Invalid params: ${expected}`, id })
    } else {
      const signal = closeSignal(response)
      const session = openSession(service, { openDoor, request, response, caller, message, signal })
      const authInfo: AuthInfo = { token: '', clientId: caller.tokenId, scopes: [...caller.scopes], extra: { session } }
      const answer = (handler: McpHttpHandler) =>
        handler.fetch(webRequest(service, { request, signal }), { authInfo, parsedBody: message })
      const handlerOf = (bus: ServerEventBus) => protocolHandler(parts, bus)
      const answered = isListen(message)
        ? await subscribe(service, { caller, message, handlerOf, answer })
        : await answer(shared)
      await send(response, { answered, signal })
    }
  }
}

// The handler of the SDK. A stream of changes has a handler and a bus of its own, and ends with this handler.
function protocolHandler(parts: ServerParts, bus?: ServerEventBus): McpHttpHandler {
  const { log, config } = parts.service
  return createMcpHandler(
    ({ authInfo, era }) => mcpServer(parts, { ...(authInfo?.extra?.['session'] as Session), era }),
    {
      onerror: (err) => log.debug({ err }, 'a message of the MCP endpoint was refused'),
      keepAliveMs: config.SSE_HEARTBEAT_SECONDS * 1000,
      ...(bus !== undefined && { bus }),
    },
  )
}

function isListen(message: unknown): boolean {
  return (message as { method?: unknown } | null)?.method === listenMethod
}

// The SDK takes wrong parameters of this request for a failure of the service. In protocol versions from 2026 on, whose
// requests name their version in a header, there is no such method.
function isWrongInitialize(message: unknown): boolean {
  return (message as { method?: unknown } | null)?.method === 'initialize' && !isInitializeRequest(message)
}

/**
 * Finds the caller and counts the request as a read. A 401 names the document that says where tokens for this endpoint
 * are issued (RFC 9728).
 */
async function admitCaller(service: Service, { request, response }: Exchange): Promise<Caller> {
  const { config, rateLimiter } = service
  const incoming = {
    identify: () => authenticate(service, { authorization: request.headers.authorization, resource: 'mcp' }),
    address: addressOf(request),
    setHeaders: (headers: Record<string, string>) => void response.set(headers),
  }
  try {
    const caller = await identify(service, incoming)
    showRateLimit(incoming, await rateLimiter.consume('read', caller.credentialId, caller.userId))
    return caller
  } catch (error) {
    const challenge = error instanceof Refusal && error.status === 401 ? error.headers['WWW-Authenticate'] : undefined
    if (challenge !== undefined) {
      const metadata = `${config.PUBLIC_ORIGIN}/.well-known/oauth-protected-resource${mcpPath}`
      ;(error as Refusal).headers['WWW-Authenticate'] =
        `${challenge}, resource_metadata="${metadata}", scope="${scopes.join(' ')}"`
    }
    throw error
  }
}

// A page of a foreign site cannot be the caller. This also holds when the site makes its own name point to this service
// (DNS rebinding). Programs send no Origin.
function isAllowedOrigin({ config }: Service, origin: string | undefined): boolean {
  const { PUBLIC_ORIGIN, CORS_ALLOWED_ORIGINS: allowed } = config
  return origin === undefined || origin === PUBLIC_ORIGIN || allowed.includes('*') || allowed.includes(origin)
}

function parseMessage(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function answerProtocolError(
  response: HttpResponse,
  {
    status = 400,
    id = null,
    ...error
  }: { status?: number; id?: string | number | null; code: number; message: string },
): void {
  response.status(status).json({ jsonrpc: '2.0', error, id })
}

const info = { name: 'knowledge-base-documents', title: 'Knowledge base', version: descriptionVersion }

// The request as the SDK reads it. The address is our own, because a client can send any text as its Host.
function webRequest({ config }: Service, { request, signal }: { request: HttpRequest; signal: AbortSignal }): Request {
  const headers = new Headers()
  for (const name of protocolHeaders) {
    const value = request.headers[name]
    if (typeof value === 'string') headers.set(name, value)
  }
  // The SDK reads no wildcards.
  if (answerTypes.every((type) => request.accepts(type))) headers.set('accept', answerTypes.join(', '))
  return new Request(config.PUBLIC_ORIGIN + mcpPath, { method: 'POST', headers, signal })
}

const answerTypes = ['application/json', 'text/event-stream']
const protocolHeaders = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name', 'mcp-session-id']

async function send(
  response: HttpResponse,
  { answered, signal }: { answered: Response; signal: AbortSignal },
): Promise<void> {
  response.status(answered.status)
  for (const [name, value] of answered.headers) response.setHeader(name, value)
  if (answered.body === null) {
    response.end()
    return
  }
  await pipeline(Readable.fromWeb(answered.body), response).catch((error: unknown) => {
    // A client ends a stream of changes by closing the connection.
    if (!signal.aborted) throw error
  })
}
