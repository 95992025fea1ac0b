import express, { type Request, type Response, Router } from 'express'
import { Refusal } from '../../shared/errors/errors.ts'
import { isStorable } from '../../shared/schema/strings.ts'
import { onBehalfOf } from '../../shared/turns/requester.ts'
import { discardRest } from '../http/request-body.ts'
import { addressOf, closeSignal } from '../http/requesters.ts'
import type { Service } from '../http/service.ts'
import { pageHeaders } from './headers.ts'
import type { Form, Page, PageAnswer } from './page.ts'
import { pageMissing } from './refusals.ts'
import { unreadable } from './unreadable-body.ts'

// The largest form in bytes, unless a page takes larger forms, and the media type that browsers send for a form without
// files.
const usualMaxBytes = 16_384
const formType = 'application/x-www-form-urlencoded'
// The most fields of a form. The form of tags has the most: a field for each of 50 tags.
const mostFields = 200

/** Serves the pages. Errors go on to the error handler of the application, which answers with a page, too. */
export function pageRouter(service: Service, pages: readonly Page[]): Router {
  const router = Router({ caseSensitive: true, strict: true })
  for (const page of pages) {
    router.all(page.path.replaceAll(/\{(\w+)\}/g, ':$1'), (request, response) =>
      servePage({ service, page }, request, response),
    )
  }
  return router
}

async function servePage(context: { service: Service; page: Page }, request: Request, response: Response) {
  const { service, page } = context
  response.locals['route'] = page.path
  response.locals['isPage'] = true
  response.set(pageHeaders())
  const allow = [...(page.get ? ['GET', 'HEAD'] : []), ...(page.post ? ['POST'] : []), 'OPTIONS']
  if (request.method === 'OPTIONS') {
    response.set('Allow', allow.join(', ')).status(204).end()
    return
  }
  const handle = { GET: page.get, HEAD: page.get, POST: page.post }[request.method]
  if (handle === undefined) {
    throw new Refusal('method_not_allowed', { details: { allow }, headers: { Allow: allow.join(', ') } })
  }
  const call = {
    service,
    request,
    response,
    params: storableParams(request),
    query: storableQuery(request),
    form: () => readForm({ request, response, maxBytes: page.formMaxBytes ?? usualMaxBytes }),
  }
  const visit = () => onBehalfOf(addressOf(request), () => handle(call), { signal: closeSignal(response) })
  const answer = await visit().finally(() => discardRest(request))
  if (answer) send(response, answer)
}

// Refuses a path with a text that PostgreSQL cannot store, because no id or name can have such a text.
function storableParams(request: Request): Record<string, string> {
  const params = request.params as Record<string, string>
  if (!Object.values(params).every(isStorable)) throw pageMissing()
  return params
}

// Reads the query. A parameter with a text that PostgreSQL cannot store counts as missing. A form treats its fields in
// the same way.
function storableQuery(request: Request): URLSearchParams {
  const { searchParams } = new URL(request.url, 'http://service')
  return new URLSearchParams([...searchParams].filter(([, value]) => isStorable(value)))
}

function send(response: Response, answer: Exclude<PageAnswer, undefined>): void {
  if ('location' in answer) {
    // A header takes no other character, so what people wrote has to be encoded.
    if (!/^[\x21-\x7e]+$/.test(answer.location)) throw new Error('a page goes to an address that is not encoded')
    response.status(303).set('Location', answer.location).end()
    return
  }
  if (answer.headers !== undefined) response.set(answer.headers)
  response
    .status(answer.status ?? 200)
    .type('text/html; charset=utf-8')
    .send(answer.html)
}

// Reads a submitted form. Refuses a body of another media type with 415, a body that is too large with 413, and an
// unreadable body with 400.
async function readForm(sent: { request: Request; response: Response; maxBytes: number }): Promise<Form> {
  const { request, response, maxBytes } = sent
  if (request.headers['content-type'] !== undefined && !request.is(formType)) {
    throw new Refusal('unsupported_media_type', { details: { accepted: [formType] } })
  }
  const parseText = express.text({ limit: maxBytes, type: () => true, defaultCharset: 'utf-8' })
  await new Promise<void>((resolve, reject) => {
    parseText(request, response, (error?: unknown) => (error ? reject(unreadable(error, maxBytes)) : resolve()))
  })
  const fields = fieldsOf(typeof request.body === 'string' ? request.body : '')
  return { fields, field: (name) => fields.get(name) ?? '' }
}

// The fields of a form by their names. A field that was sent twice is empty. Refuses with 400 a form with too many.
function fieldsOf(text: string): Map<string, string> {
  const fields = new Map<string, string>()
  if (text.split('&', mostFields + 1).length > mostFields) throw tooManyFields()
  for (const [name, value] of new URLSearchParams(text)) {
    fields.set(name, !fields.has(name) && isStorable(value) ? value : '')
  }
  return fields
}

function tooManyFields(): Refusal {
  const fields = [{ path: '/', message: `must have at most ${mostFields} fields` }]
  return new Refusal('invalid_request', { details: { fields } })
}
