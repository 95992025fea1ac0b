import type { Request, Response } from 'express'
import type { Refusal } from '../../shared/errors/errors.ts'
import { pageHeaders } from './headers.ts'
import { type PageRefusal, pageRefusalOf } from './refusals.ts'
import { view } from './render.ts'

const errorView = view<{ status: number; advice: string; requestId: string }>('error')

/**
 * Whether a person reads the error: on the path of a page, or when a browser asks for an unknown path outside the API.
 */
export function wantsErrorPage(request: Request, response: Response): boolean {
  if (response.locals['isPage'] === true) return true
  const isBrowser = request.headers.accept?.includes('text/html') === true
  return isBrowser && response.locals['route'] === undefined && !request.path.startsWith('/api/')
}

/** Answers with a page that says what happened and, for a fault of the service, shows the id of the request. */
export function sendErrorPage(response: Response, refusal: Refusal | PageRefusal): void {
  const told = pageRefusalOf(refusal)
  const html = errorView({
    title: told.heading,
    status: told.status,
    advice: told.message,
    requestId: response.locals['requestId'] as string,
  })
  response.set(pageHeaders()).set(told.headers).status(told.status).type('text/html; charset=utf-8').send(html)
}
