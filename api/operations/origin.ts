import { type Request, type Response, Router } from 'express'
import { requireMetricsToken } from '../../shared/auth/bearer.ts'
import { Refusal } from '../../shared/errors/errors.ts'
import { readiness } from '../../shared/health/readiness.ts'
import { downMembers } from '../../shared/process/parts.ts'
import { describeApi } from '../docs/openapi.ts'
import { writeReference } from '../docs/reference.ts'
import type { Route } from '../http/route.ts'
import type { Service } from '../http/service.ts'

type Handler = (request: Request, response: Response) => Promise<void> | void

/**
 * Serves the paths beside `/api/v1` that need no API token: the OpenAPI description, the reference, health and metrics.
 * These paths have no rate limit, and their answers are not wrapped in `data`.
 */
export function originRouter(service: Service, routes: readonly Route[]): Router {
  const origin = service.config.PUBLIC_ORIGIN
  const description = once(() => JSON.stringify(describeApi({ routes, origin })))
  const reference = once(() => writeReference({ routes, config: service.config }))
  const router = Router({ caseSensitive: true, strict: true })
  serve(router, '/api/openapi.json', (_request, response) => {
    response.type('application/json').send(description())
  })
  serve(router, '/api-docs.md', (_request, response) => {
    response.type('text/markdown; charset=utf-8').send(reference())
  })
  serve(router, '/healthz', (_request, response) => {
    response.json({ status: 'ok' })
  })
  serve(router, '/readyz', async (_request, response) => {
    const { status: works, checks } = await readiness(service.database)
    const status = service.isDraining() ? 'unavailable' : works
    response.status(status === 'ok' ? 200 : 503).json({ status, checks, ...downMembers() })
  })
  serve(router, '/metrics', async (request, response) => {
    requireMetricsToken(service.config.METRICS_TOKEN, request.headers.authorization)
    const { registry } = service.metrics
    response.set('Content-Type', registry.contentType).send(await registry.metrics())
  })
  return router
}

const allow = ['GET', 'HEAD', 'OPTIONS']

function serve(router: Router, path: string, handle: Handler): void {
  router.all(path, async (request, response) => {
    response.locals['route'] = path
    if (request.method === 'OPTIONS') {
      response.set('Allow', allow.join(', ')).status(204).end()
      return
    }
    if (!allow.includes(request.method)) {
      throw new Refusal('method_not_allowed', { details: { allow }, headers: { Allow: allow.join(', ') } })
    }
    response.set('Cache-Control', 'no-cache')
    await handle(request, response)
  })
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
