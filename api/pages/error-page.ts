import type { Request, Response } from 'express'
import type { Refusal } from '../../shared/errors/errors.ts'
import { knownBrowserOf } from './browser.ts'
import { pageHeaders } from './headers.ts'
import { type PageRefusal, pageRefusalOf } from './refusals.ts'
import { type Frame, view } from './render.ts'

const errorView = view<{ status: number; advice: string; requestId: string; hasNavigation: boolean }>('error')

type Call = Parameters<typeof knownBrowserOf>[0]

/**
 * Whether a person reads the error: on the path of a page, or when a browser asks for an unknown path outside the API.
 */
export function wantsErrorPage(request: Request, response: Response): boolean {
  if (response.locals['isPage'] === true) return true
  const isBrowser = request.headers.accept?.includes('text/html') === true
  return isBrowser && response.locals['route'] === undefined && !request.path.startsWith('/api/')
}

/**
 * Answers with a page that says what happened and, for a fault of the service, shows the id of the request. Where it
 * cannot be known whether somebody is signed in, the page has no navigation.
 */
export async function sendErrorPage(call: Call, refusal: Refusal | PageRefusal): Promise<void> {
  const { response } = call
  const told = pageRefusalOf(refusal)
  const account = told.status < 500 ? await accountOf(call).catch(() => undefined) : undefined
  const html = errorView({
    title: told.heading,
    status: told.status,
    advice: told.message,
    requestId: response.locals['requestId'] as string,
    hasNavigation: account !== undefined,
    ...(account && { account }),
  })
  response.set(pageHeaders()).set(told.headers).status(told.status).type('text/html; charset=utf-8').send(html)
}

// The person who is signed in; null when nobody is.
async function accountOf(call: Call): Promise<NonNullable<Frame['account']> | null> {
  const browser = await knownBrowserOf(call)
  const user = browser?.signedIn
  return browser && user ? { email: user.email, csrfToken: browser.csrfToken } : null
}
