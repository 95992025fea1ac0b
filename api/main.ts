import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { untilReachable, watchDatabase } from '../shared/database-watch.ts'
import { createLogger } from '../shared/log.ts'
import { processConfig } from '../shared/process-config.ts'
import { onStopSignal } from '../shared/stop-signals.ts'
import { createApp } from './app.ts'
import { startService } from './start-service.ts'

// The API process: listens until SIGTERM or SIGINT, then finishes what it has begun and ends.
const config = processConfig()
const log = createLogger({ service: 'api', config })
const patience = { log, patienceSeconds: config.DATABASE_PATIENCE_SECONDS }
await untilReachable(config.DATABASE_URL, patience)
const service = await startService({ config, log })
const endWatch = watchDatabase(service.database, patience)
const server = createApp(service).listen({ port: config.PORT, ...(config.HOST !== '' && { host: config.HOST }) })
await once(server, 'listening')
// Longer than load balancers and clients keep a connection (60 s as a rule): whoever closes an idle connection last never
// sends a request into one that is being closed.
server.keepAliveTimeout = 65_000
log.info({ port: (server.address() as AddressInfo).port }, 'listening')

onStopSignal(log, async () => {
  const closed = once(server, 'close')
  server.close()
  service.eventStreams.end()
  // A connection whose last request was answered meanwhile is idle, too.
  const closing = setInterval(() => server.closeIdleConnections(), 100)
  // A client that keeps its connection busy must not keep the process alive past a deploy.
  const impatient = setTimeout(() => server.closeAllConnections(), 7000)
  await closed
  clearTimeout(impatient)
  clearInterval(closing)
  endWatch()
  await service.close()
})
