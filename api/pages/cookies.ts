import { parseCookie, stringifySetCookie } from 'cookie'
import type { Request, Response } from 'express'
import type { Config } from '../../shared/config/config.ts'

/** The cookies that pages use: who is signed in, which account this browser is known to, where a sign-in elsewhere began. */
export type CookieName = 'svc_session' | 'svc_known' | 'svc_openid'

/** A cookie's value, or undefined. */
export function cookieOf(call: { request: Request; config: Config }, name: CookieName): string | undefined {
  return parseCookie(call.request.headers.cookie ?? '')[fullName(call.config, name)]
}

/**
 * Sets a cookie that scripts cannot read and that other sites' forms do not send; an empty value removes it. Behind TLS
 * it never travels without, and its `__Host-` prefix keeps neighbouring hosts from planting one. Without `seconds` it
 * ends with the browser.
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
