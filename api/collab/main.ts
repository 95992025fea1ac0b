import { setTimeout as sleep } from 'node:timers/promises'
import { processConfig } from '../../shared/config/config.ts'
import { untilReady, watchDatabase } from '../../shared/health/database-watch.ts'
import { readiness, unreached } from '../../shared/health/readiness.ts'
import { exitFailed } from '../../shared/process/command-line.ts'
import { createProcessLogger } from '../../shared/process/log.ts'
import { warnAboutSettings } from '../../shared/process/setting-warnings.ts'
import { onStopSignal } from '../../shared/process/stop-signals.ts'
import { logLibraryErrors } from './library-output.ts'
import { CollabServer } from './server.ts'
import { startCollab } from './start-collab.ts'

// The collab process, which people's editors connect to. It listens until SIGTERM or SIGINT, then closes its sockets,
// stores every open document and ends. While its database is out of reach or not yet migrated, it answers 503.
const config = processConfig()
const log = createProcessLogger({ service: 'collab', config })
warnAboutSettings({ config, log })
logLibraryErrors(log)

// The longest wait, in milliseconds, for the processing of messages that have arrived.
const longestProcessingMs = 2000
// The longest time, in milliseconds, for storing open documents. A flush that waits for a lock gives up before. The
// process ends within 25 s with this time, the processing of messages, two seconds for sockets, and the stop.
const longestDrainMs = 12_000

let ready = async () => unreached
const server = new CollabServer({ config, readiness: () => ready() })
log.info({ port: await server.listen({ host: config.HOST, port: config.COLLAB_PORT }) }, 'listening')

const watched = { url: config.DATABASE_URL, log, patienceSeconds: config.DATABASE_PATIENCE_SECONDS }
await untilReady({
  ...watched,
  onReadiness(current) {
    ready = async () => current
  },
})
const collab = await startCollab({ config, log, sockets: () => server.sockets })
const endWatch = watchDatabase(collab.database, { ...watched, mayEnd: () => !collab.rooms.holdsTextAlone })
ready = () => readiness(collab.database)
server.serve(collab)
log.info('serving')

onStopSignal(log, {
  async drain() {
    await Promise.race([collab.rooms.end(), sleep(longestProcessingMs, undefined, { ref: false })])
    await server.end()
    const unstored = await collab.rooms.drain(AbortSignal.timeout(longestDrainMs))
    if (unstored.length === 0) return
    log.error({ documents: unstored.map(({ key }) => key.id) }, 'text of open documents could not be stored')
    process.exitCode = exitFailed
  },
  async stop() {
    endWatch()
    await collab.close()
  },
})
