import { Counter, Histogram, Registry } from 'prom-client'

/** The HTTP metrics of the API process, by route and status. */
export type HttpMetrics = {
  registry: Registry
  /** Counts a response that has ended. */
  observe: (request: { method: string; route: string; status: number; seconds: number }) => void
}

/**
 * Creates the HTTP metrics on a new registry. `observeProcess` and `observeService` add more metrics to the registry,
 * which `/metrics` serves.
 */
export function createHttpMetrics(): HttpMetrics {
  const registry = new Registry()
  const duration = new Histogram({
    name: 'svc_http_request_duration_seconds',
    help: 'Time from the arrival of a request to the end of its response',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  })
  const refusals = new Counter({
    name: 'svc_http_server_errors_total',
    help: 'Responses with a status of 500 or more',
    labelNames: ['route'],
    registers: [registry],
  })
  return {
    registry,
    observe({ method, route, status, seconds }) {
      duration.observe({ method, route, status: String(status) }, seconds)
      if (status >= 500) refusals.inc({ route })
    },
  }
}
