import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, Server as TcpServer } from 'node:net'
import type { Duplex } from 'node:stream'
import { setImmediate as eventLoopTurn, setTimeout as sleep } from 'node:timers/promises'

// The milliseconds for which the server still waits for calls on idle connections. A client may have sent such a call
// just before the process stopped listening.
const transitMs = 500
// The milliseconds that running calls have to end, after the server has stopped listening.
const longestCallMs = 7000
// The most turns of the event loop for which the server waits while new connections still arrive.
const mostTurns = 1000

/** What takes over the connections that some requests ask to upgrade to another protocol. */
export type Upgrades = {
  /** Whether the request is taken over. All others are answered as if they asked for no upgrade. */
  accepts: (request: IncomingMessage) => boolean
  /** Takes over the connection; `head` is what the client has sent after its request. */
  handOn: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
}

/** The HTTP server of the process. The server stops without dropping a call. */
export class HttpServer {
  readonly #server: Server
  readonly #open = new Set<ServerResponse>()
  #answer: RequestListener
  #draining = false

  /** `answer` serves every request until `serve` replaces it. `upgrades` takes over connections; null takes none. */
  constructor(answer: RequestListener, upgrades: Upgrades | null) {
    this.#answer = answer
    const shouldUpgradeCallback = (request: IncomingMessage) => upgrades?.accepts(request) ?? false
    this.#server = createServer({ shouldUpgradeCallback }, (request, response) => {
      this.#open.add(response)
      response.on('close', () => this.#open.delete(response))
      if (this.#draining) response.setHeader('Connection', 'close')
      this.#answer(request, response)
    })
    this.#server.on('upgrade', (request, socket, head) => upgrades?.handOn(request, socket, head))
    // Load balancers and clients as a rule close idle connections after 60 s. The server closes them only after 65 s,
    // so that no client sends a request into a connection that is closing.
    this.#server.keepAliveTimeout = 65_000
  }

  /** Whether the process is about to stop, so that load balancers should send their calls elsewhere. */
  get draining(): boolean {
    return this.#draining
  }

  /** Listens and returns the port. An empty `host` means all interfaces. Throws when the port is taken. */
  async listen({ host, port }: { host: string; port: number }): Promise<number> {
    this.#server.listen({ port, ...(host !== '' && { host }) })
    await once(this.#server, 'listening')
    return (this.#server.address() as AddressInfo).port
  }

  /** Replaces the listener that answers, from the next request on. */
  serve(answer: RequestListener): void {
    this.#answer = answer
  }

  /** Serves calls for `milliseconds` more, and closes each connection after its next answer. */
  async drain(milliseconds: number): Promise<void> {
    this.#draining = true
    for (const response of this.#open) {
      if (!response.headersSent) response.setHeader('Connection', 'close')
    }
    await sleep(milliseconds)
    await this.#nobodyConnects()
  }

  /**
   * Stops listening at once. Resolves when the last connection is closed. Running calls are finished first, within
   * seven seconds; idle connections are closed last.
   */
  async close(): Promise<void> {
    const closed = once(this.#server, 'close')
    // The close() of the HTTP server would cut idle connections at once, together with calls that are on their way.
    TcpServer.prototype.close.call(this.#server)
    const since = performance.now()
    const closing = setInterval(() => {
      if (this.#open.size === 0 && performance.now() - since >= transitMs) this.#server.closeIdleConnections()
    }, 100)
    // A client with a call that never ends must not keep the process alive after a deployment.
    const impatient = setTimeout(() => this.#server.closeAllConnections(), longestCallMs)
    await closed
    clearTimeout(impatient)
    clearInterval(closing)
  }

  // Waits until no new connection arrives. When the process stops listening, the operating system resets the
  // connections that the process has not accepted yet.
  async #nobodyConnects(): Promise<void> {
    let connected = true
    const onConnection = () => {
      connected = true
    }
    this.#server.on('connection', onConnection)
    for (let turn = 0; connected && turn < mostTurns; turn += 1) {
      connected = false
      await eventLoopTurn()
    }
    this.#server.off('connection', onConnection)
  }
}
