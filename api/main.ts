import { processConfig } from '../shared/config/config.ts'
import { untilReady, watchDatabase } from '../shared/health/database-watch.ts'
import { unreached } from '../shared/health/readiness.ts'
import { createProcessLogger } from '../shared/process/log.ts'
import { warnAboutSettings } from '../shared/process/setting-warnings.ts'
import { onStopSignal } from '../shared/process/stop-signals.ts'
import { createApp } from './app.ts'
import { CollabGateway } from './collab-gateway.ts'
import { HttpServer } from './http-server.ts'
import { pageScripts } from './pages/scripts/bundle.ts'
import { startService } from './start-service.ts'
import { createWaitingApp } from './waiting-app.ts'

// The API process. The process listens until SIGTERM or SIGINT, then finishes the calls that it has begun and ends.
// While its database is out of reach or not yet migrated, the process answers 503.
const config = processConfig()
const log = createProcessLogger({ service: 'api', config })
warnAboutSettings({ config, log })
let readiness = unreached
const gateway = config.COLLAB_HAND_ON ? new CollabGateway({ config, log }) : null
const waiting = createWaitingApp({ readiness: () => readiness, origin: config.PUBLIC_ORIGIN })
const server = new HttpServer(waiting, gateway)
log.info({ port: await server.listen({ host: config.HOST, port: config.PORT }) }, 'listening')

const watched = { url: config.DATABASE_URL, log, patienceSeconds: config.DATABASE_PATIENCE_SECONDS }
await untilReady({
  ...watched,
  onReadiness(current) {
    readiness = current
  },
})
const service = await startService({ config, log, isDraining: () => server.draining })
const endWatch = watchDatabase(service.database, watched)
server.serve(createApp(service))
log.info('serving')
// The first page with scripts should not wait for the bundler.
pageScripts().catch((err: unknown) => log.error({ err }, 'the scripts of the pages could not be bundled'))

onStopSignal(log, {
  drain: () => server.drain(config.DRAIN_MS),
  async stop() {
    const closed = server.close()
    service.eventStreams.end()
    service.searchWaits.end()
    await gateway?.close()
    await closed
    endWatch()
    await service.close()
  },
})
