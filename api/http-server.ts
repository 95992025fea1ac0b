import { once } from 'node:events'
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, Server as TcpServer } from 'node:net'
import { setImmediate as eventLoopTurn, setTimeout as sleep } from 'node:timers/promises'

/** The HTTP server of the process, which stops without dropping a call. */
export class HttpServer {
  readonly #server: Server
  readonly #open = new Set<ServerResponse>()
  #answer: RequestListener
  #draining = false

  /** `answer` serves every request until `serve` replaces it. */
  constructor(answer: RequestListener) {
    this.#answer = answer
    this.#server = createServer((request, response) => {
      this.#open.add(response)
      response.on('close', () => this.#open.delete(response))
      if (this.#draining) response.setHeader('Connection', 'close')
      this.#answer(request, response)
    })
    // Longer than load balancers and clients keep a connection (60 s as a rule): whoever closes an idle connection last
    // never sends a request into one that is being closed.
    this.#server.keepAliveTimeout = 65_000
  }

  /** Whether the process is about to stop, so that load balancers should send their calls elsewhere. */
  get draining(): boolean {
    return this.#draining
  }

  /** Listens and returns the port; `host` is empty for all interfaces. Throws when the port is taken. */
  async listen({ host, port }: { host: string; port: number }): Promise<number> {
    this.#server.listen({ port, ...(host !== '' && { host }) })
    await once(this.#server, 'listening')
    return (this.#server.address() as AddressInfo).port
  }

  /** Replaces what answers from the next request on. */
  serve(answer: RequestListener): void {
    this.#answer = answer
  }

  /** Goes on serving for so many milliseconds, but closes each connection after its next answer. */
  async drain(milliseconds: number): Promise<void> {
    this.#draining = true
    for (const response of this.#open) {
      if (!response.headersSent) response.setHeader('Connection', 'close')
    }
    await sleep(milliseconds)
    await this.#nobodyConnects()
  }

  /**
   * Stops listening at once. Resolves when the last connection is closed: calls are finished first, for seven seconds at
   * most, and idle connections are closed last.
   */
  async close(): Promise<void> {
    const closed = once(this.#server, 'close')
    // The HTTP server's own close() would cut idle connections at once, and the calls that are on their way with them.
    TcpServer.prototype.close.call(this.#server)
    const since = performance.now()
    const closing = setInterval(() => {
      if (this.#open.size === 0 && performance.now() - since >= transitMs) this.#server.closeIdleConnections()
    }, 100)
    // A client that keeps its connection busy must not keep the process alive past a deploy.
    const impatient = setTimeout(() => this.#server.closeAllConnections(), longestCallMs)
    await closed
    clearTimeout(impatient)
    clearInterval(closing)
  }

  // The system resets the connections that it has made but the process has not taken when the process stops listening.
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

// For a call that was sent on an idle connection just before the process stopped listening.
const transitMs = 500
const longestCallMs = 7000
const mostTurns = 1000
