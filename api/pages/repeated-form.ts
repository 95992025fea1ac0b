import { setTimeout as pause } from 'node:timers/promises'
import type { SignedIn } from '../../shared/auth/sessions.ts'
import { inTransaction } from '../../shared/database/database.ts'
import { Refusal } from '../../shared/errors/errors.ts'
import { type IdempotencyScope, rememberAnswer, rememberedAnswer } from '../../shared/requests/queries.ts'
import { fingerprintOf, keyedFingerprint } from '../http/idempotency.ts'
import type { Form, PageAnswer, PageCall } from './page.ts'
import { PageRefusal } from './refusals.ts'

// The shape of a key, which the templates make.
const keyPattern = /^[0-9a-f-]{36}$/
// For how long a second click is expected.
const lifetimeHours = 1 / 60
// How often a refused form asks for the end of the first, and the pause in between in milliseconds.
const mostQuestions = 4
const questionPause = 50

/** The call of a page by a person who is signed in. */
type SignedInCall = Pick<PageCall, 'service' | 'request'> & { user: SignedIn }

/**
 * Answers a form. After a second click a form arrives again, while the first is worked on or just after. It may find
 * its own work done, such as a deletion, and would be refused with the blame on somebody else. So a form that is
 * refused goes to the page to which the same form has led within the last minute. A form with other fields is another
 * form, and so is a form without the field `form_key`.
 */
export async function answerRepeatable(
  call: SignedInCall,
  { form, answer }: { form: Form; answer: () => Promise<PageAnswer> },
): Promise<PageAnswer> {
  const scope = scopeOf(call, form)
  if (scope === null) return answer()
  const ending = await answer().then(
    (given) => ({ given, status: given !== undefined && 'html' in given ? (given.status ?? 200) : 200 }),
    (error: unknown) => ({ error, status: statusOf(error) }),
  )
  if (ending.status === 404 || ending.status === 409) {
    const location = await earlierLocation(call, scope)
    if (location !== null) return { location }
  }
  if ('error' in ending) throw ending.error
  const { given } = ending
  if (given !== undefined && 'location' in given) await remember(call, scope, given.location)
  return given
}

type FormScope = IdempotencyScope & { fingerprint: Buffer }

// The digest of the content is a part of the key, so that a form with another content has another key.
function scopeOf({ service, user, request }: SignedInCall, form: Form): FormScope | null {
  const key = form.field('form_key')
  if (!keyPattern.test(key)) return null
  const digest = fingerprintOf([...form.fields], new URLSearchParams())
  const fingerprint = keyedFingerprint(service.config.TOKEN_PEPPER, digest)
  const words = `${key} ${fingerprint.toString('base64url')} led to`
  return { credentialId: user.userId, method: 'POST', path: request.path, key: words, fingerprint }
}

function statusOf(error: unknown): number {
  return error instanceof Refusal || error instanceof PageRefusal ? error.status : 500
}

async function earlierLocation({ service }: SignedInCall, scope: FormScope): Promise<string | null> {
  for (let question = 1; ; question += 1) {
    const earlier = await inTransaction(service.database, (tx) => rememberedAnswer(tx, { ...scope, lifetimeHours }))
    if (earlier !== null || question === mostQuestions) return earlier?.location ?? null
    await pause(questionPause)
  }
}

async function remember({ service }: SignedInCall, scope: FormScope, location: string): Promise<void> {
  await inTransaction(service.database, async (tx) => {
    rememberAnswer(tx, { ...scope, status: 303, data: null, etag: null, location, workspaceId: null })
  })
}
