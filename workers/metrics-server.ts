import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { collectDefaultMetrics, type Registry } from 'prom-client'
import { requireMetricsToken } from '../shared/auth/bearer.ts'
import type { Config } from '../shared/config/config.ts'
import { Refusal } from '../shared/errors/errors.ts'
import { observeBuild } from '../shared/process/build-metric.ts'
import type { Logger } from '../shared/process/log.ts'

type Options = { registry: Registry; log: Logger; config: Pick<Config, 'HOST' | 'METRICS_PORT' | 'METRICS_TOKEN'> }

/**
 * Serves `/metrics` of a worker process on METRICS_PORT, unless the port is 0. Returns a function that stops the
 * server. When the port cannot be opened, an error is logged, and the process works without metrics.
 */
export async function serveMetrics({ registry, log, config }: Options): Promise<() => void> {
  const { HOST: host, METRICS_PORT: port, METRICS_TOKEN: token } = config
  if (port === 0) return () => {}
  // The precision is the interval, in milliseconds, at which the lag of the event loop is sampled. With a shorter
  // interval, sampling would be most of the work of an idle process.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 100 })
  observeBuild(registry)
  const server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') return answer(response, 404)
    try {
      requireMetricsToken(token, request.headers.authorization)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      return answer(response, error.status, { headers: error.headers })
    }
    const headers = { 'Content-Type': registry.contentType }
    registry.metrics().then(
      (text) => answer(response, 200, { headers, text }),
      () => answer(response, 500),
    )
  })
  try {
    server.listen({ port, ...(host !== '' && { host }) })
    await once(server, 'listening')
  } catch (err) {
    log.error({ err, port }, 'METRICS_PORT cannot be had: the process works without /metrics')
  }
  return () => {
    server.close()
    server.closeAllConnections()
  }
}

function answer(
  response: ServerResponse,
  status: number,
  { headers = {}, text = '' }: { headers?: Record<string, string>; text?: string } = {},
): void {
  response.writeHead(status, { 'Cache-Control': 'no-store', ...headers }).end(text)
}
