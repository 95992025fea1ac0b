import express, { type Express } from 'express'
import { Refusal } from '../shared/errors/errors.ts'
import type { Readiness } from '../shared/health/readiness.ts'
import { downMembers } from '../shared/process/parts.ts'
import { newId } from '../shared/schema/ids.ts'
import { errorBody } from './http/errors.ts'

/**
 * Builds the application that answers until the database can be reached and is migrated. The process is alive but not
 * ready, and calls of the API are refused with 503 and Retry-After. `origin` is the public origin of the service.
 */
export function createWaitingApp({ readiness, origin }: { readiness: () => Readiness; origin: string }): Express {
  const app = express()
  app.set('etag', false)
  app.set('x-powered-by', false)
  app.use((_request, response, next) => {
    response.set('Cache-Control', 'no-store')
    next()
  })
  app.get('/healthz', (_request, response) => {
    response.json({ status: 'ok' })
  })
  // The status is always `unavailable` here. The database can be ready a moment before this process, which is ready
  // only when the whole application answers.
  app.get('/readyz', (_request, response) => {
    response.status(503).json({ ...readiness(), status: 'unavailable', ...downMembers() })
  })
  app.use((_request, response) => {
    const requestId = newId('req')
    const refusal = new Refusal('service_unavailable')
    response.set({ 'X-Request-Id': requestId, 'Retry-After': '5' }).status(refusal.status)
    response.json(errorBody(refusal, { requestId, origin }))
  })
  return app
}
