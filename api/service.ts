import type { FileStore } from '../shared/attachments/file-store.ts'
import type { Config } from '../shared/config.ts'
import type { Database } from '../shared/database.ts'
import type { Logger } from '../shared/log.ts'
import type { Jobs } from '../shared/queues.ts'
import type { EventStreams } from './event-streams/hub.ts'
import type { HttpMetrics } from './metrics.ts'
import type { RateLimiter } from './rate-limit.ts'

/** What the API process is made of; one object is passed to every route. */
export type Service = {
  config: Config
  database: Database
  /** The bytes of attachments. */
  files: FileStore
  jobs: Jobs
  log: Logger
  rateLimiter: RateLimiter
  metrics: HttpMetrics
  eventStreams: EventStreams
  /** Holds every response against its declared schema; the tests switch it on. */
  checkResponses: boolean
}
