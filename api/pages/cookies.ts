import { parseCookie, stringifySetCookie } from 'cookie'
import type { Request, Response } from 'express'
import type { Config } from '../../shared/config/config.ts'

/**
 * A name of a cookie of the pages. `svc_session` holds the id of the browser, and `svc_known` proves an earlier sign-in
 * to an account. `svc_openid` holds a sign-in that has begun at the OpenID provider.
 */
export type CookieName = 'svc_session' | 'svc_known' | 'svc_openid'

/** The value of a cookie; undefined when it was not sent. */
export function cookieOf(call: { request: Request; config: Config }, name: CookieName): string | undefined {
  return parseCookie(call.request.headers.cookie ?? '')[fullName(call.config, name)]
}

/**
 * Sets a cookie that scripts cannot read and that the forms of other sites do not send. An empty value removes the
 * cookie. Behind TLS the cookie is sent over TLS only, and its `__Host-` prefix keeps neighbouring hosts from setting
 * it. Without `seconds` the cookie ends with the session of the browser.
 */
export function setCookie(
  call: { response: Response; config: Config },
  cookie: { name: CookieName; value: string; seconds?: number },
): void {
  const maxAge = cookie.value === '' ? 0 : cookie.seconds
  const header = stringifySetCookie({
    name: fullName(call.config, cookie.name),
    value: cookie.value,
    path: '/',
    httpOnly: true,
    sameSite: 'lax',
    secure: isSecure(call.config),
    ...(maxAge !== undefined && { maxAge }),
  })
  call.response.append('Set-Cookie', header)
}

function fullName(config: Config, name: CookieName): string {
  return isSecure(config) ? `__Host-${name}` : name
}

function isSecure(config: Config): boolean {
  return config.PUBLIC_ORIGIN.startsWith('https://')
}
