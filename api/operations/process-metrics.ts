import { Counter, collectDefaultMetrics, Gauge, type Registry } from 'prom-client'
import { computationLoad } from '../../shared/computations/compute.ts'
import type { Database } from '../../shared/database/database.ts'
import { observeBuild } from '../../shared/process/build-metric.ts'
import type { SearchWaits } from '../../shared/search/waits.ts'

// The interval between samples of the event loop's lag. At prom-client's default of 10 ms, sampling is most of the work
// of an idle process.
const eventLoopSampleMs = 100

/** Adds the metrics of this process: its build, its runtime, its connection pool, and its computations. */
export function observeProcess({ registry, database }: { registry: Registry; database: Database }): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: eventLoopSampleMs })
  observePool({ registry, database })
  observeComputations(registry)
  observeBuild(registry)
}

/** Adds the number of searches that wait. */
export function observeSearchWaits({ registry, searchWaits }: { registry: Registry; searchWaits: SearchWaits }): void {
  new Gauge({
    name: 'svc_search_waits',
    help: 'Searches that wait until the index is current',
    registers: [registry],
    collect() {
      this.set(searchWaits.size)
    },
  })
}

function observePool({ registry, database }: { registry: Registry; database: Database }): void {
  new Gauge({
    name: 'svc_pool_connections',
    help: 'Connections of the pool by state',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      const { acquiredConnections, idleConnections, pendingConnections } = database.state()
      this.set({ state: 'acquired' }, acquiredConnections)
      this.set({ state: 'idle' }, idleConnections)
      this.set({ state: 'pending' }, pendingConnections)
    },
  })
  new Gauge({
    name: 'svc_pool_waiting_clients',
    help: 'Queries that wait for a connection',
    registers: [registry],
    collect() {
      this.set(database.state().waitingClients)
    },
  })
}

function observeComputations(registry: Registry): void {
  new Gauge({
    name: 'svc_computations',
    help: 'Heavy pieces of work of this process that run in threads or wait for their turn',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      const { running, waiting } = computationLoad()
      this.set({ state: 'running' }, running)
      this.set({ state: 'waiting' }, waiting)
    },
  })
  new Counter({
    name: 'svc_computations_ended_total',
    help: 'Heavy pieces of work that ended in a thread, by how they ended',
    labelNames: ['end'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [end, count] of Object.entries(computationLoad().ends)) this.inc({ end }, count)
    },
  })
}
