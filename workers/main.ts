import { processConfig } from '../shared/config/config.ts'
import { untilReady, watchDatabase } from '../shared/health/database-watch.ts'
import { createProcessLogger } from '../shared/process/log.ts'
import type { WorkerType } from '../shared/process/process-types.ts'
import { warnAboutSettings } from '../shared/process/setting-warnings.ts'
import { onStopSignal } from '../shared/process/stop-signals.ts'
import { serveMetrics } from './metrics-server.ts'
import { openRuntime } from './runtime/runtime.ts'
import { isWorkerType, workersOf, workerTypes } from './types.ts'

// `node workers/main.ts <type>…` runs the named worker types in this process. Without a name it runs the types that
// WORKER_QUEUES lists.
const config = processConfig()
const types = chosenTypes(process.argv.slice(2))
const log = createProcessLogger({ service: `worker:${types.join('+')}`, config })
const watched = { url: config.DATABASE_URL, log, patienceSeconds: config.DATABASE_PATIENCE_SECONDS }
warnAboutSettings({ config, log })
await untilReady(watched)
const runtime = await openRuntime({ config, log, schedule: types.includes('sweeps'), types })
const stops = await Promise.all(workersOf(types).map((worker) => worker.start(runtime)))
const endMetrics = await serveMetrics({ registry: runtime.registry, log, config })
const endWatch = watchDatabase(runtime.database, watched)
log.info({ types }, 'working')

onStopSignal(log, {
  async stop() {
    await Promise.all(stops.map((stop) => stop()))
    endWatch()
    endMetrics()
    await runtime.close()
  },
})

function chosenTypes(named: string[]): WorkerType[] {
  const wanted = named.length > 0 ? named : config.WORKER_QUEUES
  if (wanted.includes('*')) return Object.keys(workerTypes).filter(isWorkerType)
  const unknown = wanted.filter((type) => !isWorkerType(type))
  if (unknown.length === 0) return wanted.filter(isWorkerType)
  throw new Error(`unknown worker types: ${unknown.join(', ')}; there are ${Object.keys(workerTypes).join(', ')}`)
}
