import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import { requireMetricsToken } from '../../shared/auth/bearer.ts'
import { clientAddress } from '../../shared/auth/forwarded-address.ts'
import type { Config } from '../../shared/config/config.ts'
import { Refusal } from '../../shared/errors/errors.ts'
import type { Readiness } from '../../shared/health/readiness.ts'
import { addressOf } from '../http/requesters.ts'
import { ClientSocket, mostMessageBytes } from './client-socket.ts'
import type { CollabMetrics } from './metrics.ts'
import type { Rooms } from './rooms.ts'
import { isCollaborationPath, isForLiveEditing } from './upgrade-request.ts'

const checkMs = 1000
// The most sockets beyond the connections that the process takes, and the most sockets of one address that have no
// document open. A proxy that does not tell the addresses of its clients counts as one address.
const otherSockets = 1000
const unusedOfAddress = 250
// The time, in milliseconds, that clients have to answer the closing handshake.
const closingMs = 2000

type Options = {
  config: Pick<Config, 'METRICS_TOKEN' | 'COLLAB_MAX_CONNECTIONS' | 'SESSION_SECRET' | 'TRUST_PROXY'>
  readiness: () => Promise<Readiness>
}

/** What the server serves once the database is there. */
export type Served = { rooms: Rooms; metrics: CollabMetrics }

/** The HTTP server of the process: probes, metrics, and the upgrade to WebSocket at `/collab`. */
export class CollabServer {
  readonly #options: Options
  readonly #http: Server
  readonly #upgrades = new WebSocketServer({ noServer: true, maxPayload: mostMessageBytes })
  readonly #sockets = new Set<ClientSocket>()
  readonly #checking: NodeJS.Timeout
  #served: Served | null = null
  #ending = false

  constructor(options: Options) {
    this.#options = options
    const shouldUpgradeCallback = isForLiveEditing
    this.#http = createServer({ shouldUpgradeCallback }, (request, response) => void this.#answer(request, response))
    this.#http.on('upgrade', (request, socket, head) => this.#upgrade(request, { socket, head }))
    this.#checking = setInterval(() => this.#check(), checkMs)
  }

  get #mostSockets(): number {
    return this.#options.config.COLLAB_MAX_CONNECTIONS + otherSockets
  }

  get sockets(): number {
    return this.#sockets.size
  }

  /** Listens and returns the port. An empty `host` means all interfaces. Throws when the port is taken. */
  async listen({ host, port }: { host: string; port: number }): Promise<number> {
    this.#http.listen({ port, ...(host !== '' && { host }) })
    await once(this.#http, 'listening')
    return (this.#http.address() as AddressInfo).port
  }

  /** Accepts sockets from now on. */
  serve(served: Served): void {
    this.#served = served
  }

  /** Stops listening and closes all sockets, so that their clients connect to another process. */
  async end(): Promise<void> {
    this.#ending = true
    this.#http.close()
    this.#http.closeIdleConnections()
    for (const socket of this.#sockets) socket.close(1012, 'Service Restart')
    const late = performance.now() + closingMs
    while (this.#sockets.size > 0 && performance.now() < late) await new Promise((resolve) => setTimeout(resolve, 20))
    for (const socket of this.#sockets) socket.terminate()
    clearInterval(this.#checking)
    this.#http.closeAllConnections()
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method } = request
    if (method !== 'GET' && method !== 'HEAD') return send(response, 405, { headers: { Allow: 'GET, HEAD' } })
    if (request.url === '/healthz') return sendJson(response, 200, { status: 'ok' })
    if (request.url === '/readyz') return this.#answerReadiness(response)
    if (request.url === '/metrics') return this.#answerMetrics(request, response)
    if (isCollaborationPath(request.url)) return send(response, 426, { headers: { Upgrade: 'websocket' } })
    send(response, 404)
  }

  async #answerReadiness(response: ServerResponse): Promise<void> {
    const ready = await this.#options.readiness()
    const serves = ready.status === 'ok' && this.#served !== null && !this.#ending
    sendJson(response, serves ? 200 : 503, { ...ready, status: serves ? 'ok' : 'unavailable' })
  }

  async #answerMetrics(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.#served === null) return send(response, 503)
    try {
      requireMetricsToken(this.#options.config.METRICS_TOKEN, request.headers.authorization)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      return send(response, error.status, { headers: error.headers })
    }
    const { registry } = this.#served.metrics
    const headers = { 'Content-Type': registry.contentType }
    await registry.metrics().then(
      (text) => send(response, 200, { headers, text }),
      () => send(response, 500),
    )
  }

  #upgrade(request: IncomingMessage, { socket, head }: { socket: Duplex; head: Buffer }): void {
    const served = this.#served
    socket.on('error', () => {})
    const { SESSION_SECRET: secret, TRUST_PROXY: proxies } = this.#options.config
    const address = addressOf({ ip: clientAddress(request, { secret, proxies }) })
    if (served === null || this.#ending || this.#isFullFor(address)) {
      socket.end('HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
      return
    }
    this.#upgrades.handleUpgrade(request, socket, head, (upgraded) => {
      const client = new ClientSocket(upgraded, { stream: socket, address, metrics: served.metrics })
      this.#sockets.add(client)
      client.onClose(() => this.#sockets.delete(client))
      served.rooms.connect(client, request)
    })
  }

  #isFullFor(address: string): boolean {
    if (this.#sockets.size >= this.#mostSockets) return true
    const unused = [...this.#sockets].filter((socket) => socket.address === address && !socket.isUsed)
    return unused.length >= unusedOfAddress
  }

  #check(): void {
    const now = performance.now()
    for (const socket of this.#sockets) socket.check(now)
  }
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  send(response, status, { headers: { 'Content-Type': 'application/json' }, text: JSON.stringify(body) })
}

function send(
  response: ServerResponse,
  status: number,
  { headers = {}, text = '' }: { headers?: Record<string, string>; text?: string } = {},
): void {
  response.writeHead(status, { 'Cache-Control': 'no-store', ...headers }).end(text)
}
