import { parseCookie, stringifySetCookie } from 'cookie'
import type { Request, Response } from 'express'
import { documentIdPattern } from '../../shared/schema/ids.ts'

/*
 * Text that a browser keeps because it was typed without a connection. The editor notes its documents in cookies, which
 * browsers send with the form that signs out (`editor/browser/unsent-cookie.ts`).
 */

const name = new RegExp(`^svc_unsent_(${documentIdPattern.slice(1, -1)})$`)

/** A document with text that the browser has not sent, and its title as the editor had it. */
export type Unsent = { documentId: string; title: string }

/** The documents of which the browser keeps text that was not sent. */
export function unsentDocuments({ headers }: Request): Unsent[] {
  return Object.entries(parseCookie(headers.cookie ?? '')).flatMap(([cookie, title = '']) => {
    const [, documentId] = name.exec(cookie) ?? []
    return documentId === undefined ? [] : [{ documentId, title }]
  })
}

/** Makes the browser forget which documents have text that was not sent. */
export function forgetUnsent({ request, response }: { request: Request; response: Response }): void {
  for (const { documentId } of unsentDocuments(request)) {
    const cookie = { name: `svc_unsent_${documentId}`, value: '', path: '/logout', maxAge: 0 }
    response.append('Set-Cookie', stringifySetCookie(cookie))
  }
}
