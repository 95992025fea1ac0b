import { randomUUID } from 'node:crypto'
import { openFileStore } from '../shared/attachments/store.ts'
import type { AuthorizationServer } from '../shared/auth/oauth/authorization-server.ts'
import type { OpenIdProvider } from '../shared/auth/openid.ts'
import type { Config } from '../shared/config/config.ts'
import { type Database, openDatabase } from '../shared/database/database.ts'
import { sessionName } from '../shared/health/queries.ts'
import { logQueueError, openJobs } from '../shared/jobs/send.ts'
import type { Logger } from '../shared/process/log.ts'
import { SearchWaits } from '../shared/search/waits.ts'
import { openEventStreams } from './event-streams/hub.ts'
import { openExports } from './http/exports.ts'
import { createRateLimiter } from './http/rate-limit.ts'
import { createHttpMetrics } from './http/request-metrics.ts'
import type { Service } from './http/service.ts'
import { createThrottles } from './http/throttles.ts'
import { observeProcess, observeSearchWaits } from './operations/process-metrics.ts'
import { observeService } from './operations/service-metrics.ts'
import { readJson } from './routes/json-body.ts'

/**
 * Opens the parts of the API process: pools, job queue, files, limits, metrics. The database must be migrated before.
 * The returned `close` closes the parts.
 */
export async function startService(options: {
  config: Config
  log: Logger
  isDraining?: () => boolean
  checkResponses?: boolean
}): Promise<Service & { close: () => Promise<void> }> {
  const { config, log } = options
  const database = await openDatabase({
    url: config.DATABASE_URL,
    poolSize: 20,
    name: sessionName('api', randomUUID()),
  })
  const jobs = await openJobs({ database, onError: (error) => logQueueError(log, error) })
  const metrics = createHttpMetrics()
  observeProcess({ registry: metrics.registry, database })
  observeService({ registry: metrics.registry, database })
  const eventsDatabase = await openDatabase({ url: config.DATABASE_URL, kind: 'events', poolSize: 4 })
  const eventStreams = openEventStreams({ database: eventsDatabase, config, log, registry: metrics.registry })
  const searchWaits = new SearchWaits({
    database,
    url: config.DATABASE_URL,
    onError: (err) => log.warn({ err }, 'searches that wait for the index'),
  })
  observeSearchWaits({ registry: metrics.registry, searchWaits })
  const exportRuns = await openExports({ url: config.DATABASE_URL })
  return {
    config,
    log,
    database,
    files: await openFileStore(config),
    jobs,
    rateLimiter: createRateLimiter({ database, config, log }),
    throttles: createThrottles({ database, log }),
    openid: await openOpenId(config),
    oauth: oauthOnDemand({ config, database, log }),
    metrics,
    readJson,
    eventStreams,
    searchWaits,
    exports: exportRuns,
    isDraining: options.isDraining ?? (() => false),
    checkResponses: options.checkResponses ?? false,
    async close() {
      await Promise.all([eventStreams.close(), searchWaits.close()])
      await eventsDatabase.end()
      await exportRuns.close()
      await jobs.stop()
      await database.end()
    },
  }
}

// The library of the authorization server is large, so it is only loaded when the first program comes.
function oauthOnDemand(context: { config: Config; database: Database; log: Logger }): Service['oauth'] {
  let server: Promise<AuthorizationServer> | undefined
  return () => {
    server ??= import('./oauth/authorization-server.ts').then((module) => module.createAuthorizationServer(context))
    return server
  }
}

// The client of OpenID Connect is large, so it is only loaded where there is a provider.
async function openOpenId(config: Config): Promise<OpenIdProvider | null> {
  if (config.OIDC_ISSUER === '') return null
  const { createOpenIdProvider } = await import('../shared/auth/openid-provider.ts')
  return createOpenIdProvider(config)
}
