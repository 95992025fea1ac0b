import type { SignedIn } from '../../shared/auth/sessions.ts'
import { fingerprintOf, type KeyedRequest, keyedFingerprint } from '../http/idempotency.ts'
import type { Form, PageCall } from './page.ts'

// The shape of a key, which the templates make.
const keyPattern = /^[0-9a-f-]{36}$/

/** The call of a page by a person who is signed in. */
export type SignedInCall = Pick<PageCall, 'service' | 'request'> & { user: SignedIn }

/**
 * A form by which its repetitions are known: the use of its key in the field `form_key`. The digest of the content is a
 * part of the key, so a form with another content has another key. `files` has names and digests of the files of the
 * form. `purpose` keeps several uses of one form apart. Null for a form without a key.
 */
export function keyedForm(
  { service, user, request }: SignedInCall,
  { form, files, purpose }: { form: Form; files: readonly string[]; purpose: string },
): Omit<KeyedRequest, 'lifetimeHours'> | null {
  const key = form.field('form_key')
  if (!keyPattern.test(key)) return null
  const digest = fingerprintOf([[...form.fields], files], new URLSearchParams())
  const fingerprint = keyedFingerprint(service.config.TOKEN_PEPPER, digest)
  const words = [key, fingerprint.toString('base64url'), purpose].join(' ')
  return { scope: { credentialId: user.userId, method: 'POST', path: request.path, key: words }, fingerprint }
}
