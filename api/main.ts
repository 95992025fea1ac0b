import { untilReachable, watchDatabase } from '../shared/database-watch.ts'
import { createLogger } from '../shared/log.ts'
import { processConfig } from '../shared/process-config.ts'
import { onStopSignal } from '../shared/stop-signals.ts'
import { createApp } from './app.ts'
import { HttpServer } from './http-server.ts'
import { startService } from './start-service.ts'

// The API process: listens until SIGTERM or SIGINT, then finishes what it has begun and ends.
const config = processConfig()
const log = createLogger({ service: 'api', config })
const patience = { log, patienceSeconds: config.DATABASE_PATIENCE_SECONDS }
await untilReachable(config.DATABASE_URL, patience)
const service = await startService({ config, log, isDraining: () => server.draining })
const endWatch = watchDatabase(service.database, patience)
const server = new HttpServer(createApp(service))
log.info({ port: await server.listen({ host: config.HOST, port: config.PORT }) }, 'listening')

onStopSignal(log, {
  drain: () => server.drain(config.DRAIN_MS),
  async stop() {
    const closed = server.close()
    service.eventStreams.end()
    await closed
    endWatch()
    await service.close()
  },
})
