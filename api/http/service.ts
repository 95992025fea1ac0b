import type { FileStore } from '../../shared/attachments/store.ts'
import type { AuthorizationServer } from '../../shared/auth/oauth/authorization-server.ts'
import type { OpenIdProvider } from '../../shared/auth/openid.ts'
import type { Config } from '../../shared/config/config.ts'
import type { Database } from '../../shared/database/database.ts'
import type { Jobs } from '../../shared/jobs/send.ts'
import type { Logger } from '../../shared/process/log.ts'
import type { SearchWaits } from '../../shared/search/waits.ts'
import type { EventStreams } from '../event-streams/hub.ts'
import type { Exports } from './exports.ts'
import type { RateLimiter } from './rate-limit.ts'
import type { HttpMetrics } from './request-metrics.ts'
import type { Throttles } from './throttles.ts'

/** The parts of the API process. Every route gets this object. */
export type Service = {
  config: Config
  database: Database
  /** The bytes of attachments. */
  files: FileStore
  jobs: Jobs
  log: Logger
  rateLimiter: RateLimiter
  /** The limits on guesses of passwords and codes. */
  throttles: Throttles
  /** The OpenID provider at which people can sign in without a password; null unless it is configured. */
  openid: OpenIdProvider | null
  /** The authorization server of OAuth 2.1. It is loaded when somebody first needs it. */
  oauth: () => Promise<AuthorizationServer>
  metrics: HttpMetrics
  /** Parses and validates a body by the schema of its route, in a thread when the body is large. */
  readJson: (json: JsonBody) => Promise<ReadBody>
  exports: Exports
  eventStreams: EventStreams
  searchWaits: SearchWaits
  /**
   * Whether the process is about to stop. The process still serves, but load balancers should send calls to other
   * processes.
   */
  isDraining: () => boolean
  /** Whether every answer is checked against its declared schema. Only the tests switch the check on. */
  checkResponses: boolean
}

/** The unparsed JSON body of a request, and the route that it is for. */
export type JsonBody = {
  operationId: string
  text: string
  /** The query parameters of a request with an Idempotency-Key; null for all other requests. */
  query: [name: string, value: string][] | null
}

/**
 * A decoded body. `fingerprint` is the digest by which a repetition with the same Idempotency-Key is recognised; null
 * for a request without a key.
 */
export type ReadBody = { body: object; fingerprint: Uint8Array | null }
