import { setTimeout as pause } from 'node:timers/promises'
import { inTransaction } from '../../shared/database/database.ts'
import { Refusal } from '../../shared/errors/errors.ts'
import { rememberAnswer, rememberedAnswer } from '../../shared/requests/queries.ts'
import { keyedForm, type SignedInCall } from './keyed-form.ts'
import type { Form, PageAnswer } from './page.ts'
import { PageRefusal } from './refusals.ts'

// For how long a second click is expected.
const lifetimeHours = 1 / 60
// How often a refused form asks for the end of the first, and the pause in between in milliseconds.
const mostQuestions = 4
const questionPause = 50

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
  const keyed = keyedForm(call, { form, files: [], purpose: 'led to' })
  if (keyed === null) return answer()
  const ending = await answer().then(
    (given) => ({ given, status: given !== undefined && 'html' in given ? (given.status ?? 200) : 200 }),
    (error: unknown) => ({ error, status: statusOf(error) }),
  )
  if (ending.status === 404 || ending.status === 409) {
    const location = await earlierLocation(call, keyed)
    if (location !== null) return { location }
  }
  if ('error' in ending) throw ending.error
  const { given } = ending
  // The work is done, so a failure to remember the page is none of the form.
  if (given !== undefined && 'location' in given) await remember(call, keyed, given.location).catch(() => {})
  return given
}

function statusOf(error: unknown): number {
  return error instanceof Refusal || error instanceof PageRefusal ? error.status : 500
}

type Keyed = NonNullable<ReturnType<typeof keyedForm>>

async function earlierLocation({ service }: SignedInCall, { scope }: Keyed): Promise<string | null> {
  for (let question = 1; ; question += 1) {
    const earlier = await inTransaction(service.database, (tx) => rememberedAnswer(tx, { ...scope, lifetimeHours }))
    if (earlier !== null || question === mostQuestions) return earlier?.location ?? null
    await pause(questionPause)
  }
}

async function remember({ service }: SignedInCall, { scope, fingerprint }: Keyed, location: string): Promise<void> {
  await inTransaction(service.database, async (tx) => {
    await rememberAnswer(tx, {
      ...scope,
      fingerprint,
      status: 303,
      data: null,
      etag: null,
      location,
      workspaceId: null,
    })
  })
}
