import type { IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import { type Duplex, pipeline } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { clientAddress, handedOnFor, handedOnHeader } from '../shared/auth/forwarded-address.ts'
import type { Config } from '../shared/config/config.ts'
import type { Logger } from '../shared/process/log.ts'
import { isForLiveEditing } from './collab/upgrade-request.ts'

// The milliseconds that the collab process has to accept a connection.
const connectMs = 5000
// The milliseconds for which connections go on after the process has stopped listening. The collab process, which
// often stops at the same time, stores typed text meanwhile and tells its editors.
const graceMs = 2000

type Settings = Pick<Config, 'HOST' | 'COLLAB_PORT' | 'SESSION_SECRET' | 'TRUST_PROXY'>

/**
 * Hands WebSocket connections of editors on to the collab process of the same host, byte by byte. So one address
 * is enough for a service on one machine.
 */
export class CollabGateway {
  readonly #config: Settings
  readonly #log: Logger
  readonly #open = new Set<Duplex>()

  constructor({ config, log }: { config: Settings; log: Logger }) {
    this.#config = config
    this.#log = log
  }

  /** Whether a request asks for a WebSocket of live editing. All other requests get their ordinary answer. */
  accepts(request: IncomingMessage): boolean {
    return isForLiveEditing(request)
  }

  /**
   * Connects a client with the collab process; `head` is what the client has sent after its request. A slow end
   * holds up the other end, and when one end closes, so does the other. Without the process the answer is 502.
   */
  handOn(request: IncomingMessage, client: Duplex, head: Buffer): void {
    this.#open.add(client)
    client.on('close', () => this.#open.delete(client))
    const upstream = connect({ host: hostOf(this.#config.HOST), port: this.#config.COLLAB_PORT, noDelay: true })
    const late = setTimeout(() => upstream.destroy(new Error('The connection took too long')), connectMs)
    upstream.once('close', () => clearTimeout(late))
    client.on('error', () => upstream.destroy())
    upstream.once('error', (err) => this.#refuse(client, { upstream, err }))
    upstream.once('connect', () => {
      clearTimeout(late)
      upstream.write(this.#requestFor(request), 'latin1')
      upstream.write(head)
      pipeline(client, upstream, client, () => {})
    })
  }

  /** Waits a moment for open connections to end, then cuts those that are left. */
  async close(): Promise<void> {
    const since = performance.now()
    while (this.#open.size > 0 && performance.now() - since < graceMs) await sleep(50)
    for (const client of this.#open) client.destroy()
  }

  // The request as the client has sent it, with the address of the client instead of what the client may claim.
  #requestFor(request: IncomingMessage): string {
    const { SESSION_SECRET: secret, TRUST_PROXY: proxies } = this.#config
    const sent = Array.from({ length: request.rawHeaders.length / 2 }, (_, index) => ({
      name: request.rawHeaders[2 * index] ?? '',
      value: request.rawHeaders[2 * index + 1] ?? '',
    }))
    const kept = sent.filter(({ name }) => name.toLowerCase() !== handedOnHeader)
    const address = clientAddress(request, { secret, proxies })
    const headers = [...kept, { name: handedOnHeader, value: handedOnFor(secret, address) }]
    const lines = headers.map(({ name, value }) => `${name}: ${value}`)
    return [`${request.method} ${request.url} HTTP/1.1`, ...lines, '', ''].join('\r\n')
  }

  #refuse(client: Duplex, { upstream, err }: { upstream: Socket; err: Error }): void {
    if (upstream.bytesRead > 0 || !client.writable) {
      client.destroy()
      return
    }
    this.#log.warn({ err }, 'live editing is out of reach')
    client.end('HTTP/1.1 502 Bad Gateway\r\nConnection: close\r\nContent-Length: 0\r\nRetry-After: 5\r\n\r\n')
  }
}

// The collab process listens at HOST too. An address for all interfaces is none to connect to.
function hostOf(host: string): string {
  if (host === '' || host === '0.0.0.0') return '127.0.0.1'
  return host === '::' ? '::1' : host
}
