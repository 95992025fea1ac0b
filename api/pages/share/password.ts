import { keyedHash, sameText } from '../../../shared/auth/keyed-hash.ts'
import { verifyPassword } from '../../../shared/auth/passwords.ts'
import type { ShareRow } from '../../../shared/sharing/queries.ts'
import { sharePath } from '../../../shared/sharing/share.ts'
import { addressOf } from '../../http/requesters.ts'
import { refuseOtherSites } from '../browser.ts'
import { cookieOf, setCookie } from '../cookies.ts'
import type { PageAnswer, PageCall } from '../page.ts'
import { view } from '../render.ts'

// A reader is asked again after a day.
const admissionSeconds = 86_400

// The most UTF-16 units of a password, which has at most 200 characters. Hashing a longer text would only cost time.
const longestPassword = 400

const passwordView = view<{ action: string; failed: boolean }>('share-password')

/**
 * Whether the browser may see what a share shows: the share asks for no password, or the browser has the cookie of a
 * reader who gave the current password within a day.
 */
export function isAdmitted(call: PageCall, share: ShareRow): boolean {
  if (share.password_hash === null) return true
  const { config } = call.service
  const cookie = cookieOf({ request: call.request, config }, 'svc_share') ?? ''
  const [until = '', proof = ''] = cookie.split('.')
  return sameText(proofOf(config.SESSION_SECRET, { share, until }), proof) && Number(until) > Date.now()
}

/**
 * The page that asks for the password of a share. It says nothing about the document. The status 403 tells programs
 * that they have not seen the document, and keeps conditional requests from a 304.
 */
export function passwordPage(share: ShareRow, { failed }: { failed: boolean }): PageAnswer {
  const html = passwordView({ title: 'A password is needed', bare: true, action: sharePath(share.id), failed })
  return { status: 403, html, headers: { 'X-Robots-Tag': 'noindex, nofollow' } }
}

/**
 * Takes the submitted password of a share. The right password gives the browser a cookie and leads to the document. A
 * wrong password leads to the password page. Refuses with 429 after ten wrong passwords of one address for one share
 * within a minute, then also the right one.
 */
export async function enterPassword(call: PageCall, share: ShareRow): Promise<PageAnswer> {
  const { service, request, response } = call
  refuseOtherSites(call)
  const document = { location: sharePath(share.id) }
  if (share.password_hash === null) return document
  const password = (await call.form()).field('password')
  const guesses = { 'share-password': `${share.id} ${addressOf(request)}` }
  const isRight = await service.throttles.guess(guesses, async () => (await isPassword(share, password)) || null)
  if (isRight === null) {
    service.log.info({ request_id: response.locals['requestId'] }, 'password of a share refused')
    return passwordPage(share, { failed: true })
  }
  const until = String(Date.now() + admissionSeconds * 1000)
  const value = `${until}.${proofOf(service.config.SESSION_SECRET, { share, until })}`
  const cookie = { name: 'svc_share', value, seconds: admissionSeconds, path: sharePath(share.id) } as const
  setCookie({ response, config: service.config }, cookie)
  return document
}

async function isPassword(share: ShareRow, password: string): Promise<boolean> {
  return password.length <= longestPassword && (await verifyPassword(password, share.password_hash))
}

// The signature of a cookie. The hash of the password has a salt of its own, so a new password ends the cookies given
// before, even if it is the same password again.
function proofOf(secret: string, { share, until }: { share: ShareRow; until: string }): string {
  const text = `${share.id} ${until} ${share.password_hash}`
  return keyedHash(secret, { purpose: 'shared document', text }).toString('base64url')
}
