import { parseCookie, stringifySetCookie } from 'cookie'
import type { Request, Response } from 'express'
import { documentIdPattern } from '../../shared/schema/ids.ts'

/*
 * Text that a browser keeps because it was typed without a connection. The editor notes its documents in cookies, which
 * browsers send with the form that signs out (`editor/browser/unsent-cookie.ts`).
 */

const prefix = 'svc_unsent_'
const isDocumentId = new RegExp(documentIdPattern)

/** The ids of the documents of which the browser keeps text that a user has typed and that was not sent. */
export function unsentDocumentIds(request: Request, userId: string): string[] {
  const own = `${prefix}${userId}_`
  const names = unsentCookies(request).filter((name) => name.startsWith(own))
  return names.map((name) => name.slice(own.length)).filter((id) => isDocumentId.test(id))
}

/** Makes the browser forget which documents of all users have text that was not sent. */
export function forgetUnsent({ request, response }: { request: Request; response: Response }): void {
  for (const name of unsentCookies(request)) {
    response.append('Set-Cookie', stringifySetCookie({ name, value: '', path: '/logout', maxAge: 0 }))
  }
}

function unsentCookies({ headers }: Request): string[] {
  return Object.keys(parseCookie(headers.cookie ?? '')).filter((name) => name.startsWith(prefix))
}
