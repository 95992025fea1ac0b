import type { FileStore } from '../../shared/attachments/store.ts'
import type { OpenIdProvider } from '../../shared/auth/openid-provider.ts'
import type { Config } from '../../shared/config/config.ts'
import type { Database } from '../../shared/database/database.ts'
import type { Jobs } from '../../shared/jobs/send.ts'
import type { Logger } from '../../shared/process/log.ts'
import type { EventStreams } from '../event-streams/hub.ts'
import type { Exports } from './exports.ts'
import type { RateLimiter } from './rate-limit.ts'
import type { HttpMetrics } from './request-metrics.ts'
import type { Throttles } from './throttles.ts'

/** What the API process is made of; one object is passed to every route. */
export type Service = {
  config: Config
  database: Database
  /** The bytes of attachments. */
  files: FileStore
  jobs: Jobs
  log: Logger
  rateLimiter: RateLimiter
  /** What guessing of passwords and codes runs into. */
  throttles: Throttles
  /** Where people can sign in beside their passwords; null unless it is configured. */
  openid: OpenIdProvider | null
  metrics: HttpMetrics
  /** Reads a body by the schema of its route, which a thread can find in the route table alone. */
  readJson: (json: JsonBody) => Promise<ReadBody>
  exports: Exports
  eventStreams: EventStreams
  /** Whether the process is about to stop: it still serves, but load balancers should send their calls elsewhere. */
  isDraining: () => boolean
  /** Holds every response against its declared schema; the tests switch it on. */
  checkResponses: boolean
}

/** The JSON of a request to a route. */
export type JsonBody = {
  operationId: string
  text: string
  /** The parameters of a request whose repetition has to be recognised; null for all other requests. */
  query: [name: string, value: string][] | null
}

/** A body as its handler gets it, and what tells the request from others with the same key. */
export type ReadBody = { body: object; fingerprint: Uint8Array | null }
