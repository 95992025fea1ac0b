import { parseCookie, stringifySetCookie } from 'cookie'
import type { Request, Response } from 'express'
import type { Config } from '../../shared/config/config.ts'

/**
 * A name of a cookie of the pages. `svc_session` holds the id of the browser, and `svc_known` proves an earlier sign-in
 * to an account. `svc_openid` holds a sign-in that has begun at the OpenID provider. `svc_share` proves that a reader
 * gave the password of a shared document; the cookie is sent to the addresses of that share alone.
 */
export type CookieName = 'svc_session' | 'svc_known' | 'svc_openid' | 'svc_share'

/** The value of a cookie; undefined when it was not sent. */
export function cookieOf(call: { request: Request; config: Config }, name: CookieName): string | undefined {
  return parseCookie(call.request.headers.cookie ?? '')[fullName(call.config, name)]
}

/**
 * Sets a cookie that scripts cannot read and that the forms of other sites do not send. An empty value removes the
 * cookie. Behind TLS the cookie is sent over TLS only, and its `__Host-` prefix keeps neighbouring hosts from setting
 * it. Such a cookie is sent to all pages. `svc_share` names the `path` to which it is sent, and its prefix is
 * `__Secure-`. Without `seconds` the cookie ends with the session of the browser.
 */
export function setCookie(
  call: { response: Response; config: Config },
  cookie: { name: CookieName; value: string; seconds?: number; path?: string },
): void {
  const maxAge = cookie.value === '' ? 0 : cookie.seconds
  const header = stringifySetCookie({
    name: fullName(call.config, cookie.name),
    value: cookie.value,
    path: cookie.path ?? '/',
    httpOnly: true,
    sameSite: 'lax',
    secure: isSecure(call.config),
    ...(maxAge !== undefined && { maxAge }),
  })
  call.response.append('Set-Cookie', header)
}

function fullName(config: Config, name: CookieName): string {
  if (!isSecure(config)) return name
  return name === 'svc_share' ? `__Secure-${name}` : `__Host-${name}`
}

function isSecure(config: Config): boolean {
  return config.PUBLIC_ORIGIN.startsWith('https://')
}
