import { setTimeout as pause } from 'node:timers/promises'
import { Refusal } from '../../shared/errors/errors.ts'
import { answerOnce } from '../http/idempotency.ts'
import type { WriteContext } from '../http/write-context.ts'
import type { AccountCall } from './account-page.ts'
import { keyedForm } from './keyed-form.ts'
import type { Form } from './page.ts'
import { pageWrite } from './page-writes.ts'

// How often a repeated form asks for the end of the first, and the pause in between in milliseconds.
const mostQuestions = 240
const questionPause = 250

/** A form that creates something. `files` has names and digests of the files of the form. */
export type CreatingForm = { form: Form; files?: readonly string[] }

/**
 * Runs the write of a form that creates something, as `pageWrite` does, and returns the text that `write` returns, such
 * as an id. A form that arrives again, after a second click or a reload, creates nothing. Its call waits for the first
 * call and gets the same text, as calls with an Idempotency-Key do (api/guide/idempotency.md#replays). A form whose
 * fields have changed is another form.
 */
export async function writeOnce(
  call: AccountCall,
  { form, files = [] }: CreatingForm,
  write: (context: WriteContext) => Promise<string>,
): Promise<string> {
  const keyed = keyedForm(call, { form, files, purpose: 'created' })
  if (keyed === null) return pageWrite(call, write)
  const lifetimeHours = call.service.config.IDEMPOTENCY_TTL_HOURS
  // A redirection stores no workspace, because the page to go to checks what the person sees.
  const once = () =>
    pageWrite(call, async (context) => {
      const created = async () => ({ status: 303, data: await write(context) })
      const { data, dataText } = await answerOnce(
        { tx: context.tx, visible: () => true },
        { ...keyed, lifetimeHours },
        created,
      )
      return String(dataText === undefined ? data : JSON.parse(dataText))
    })
  for (let question = 1; ; question += 1) {
    try {
      return await once()
    } catch (error) {
      const isInProgress = error instanceof Refusal && error.code === 'idempotency_in_progress'
      if (!isInProgress || question === mostQuestions || call.response.closed) throw error
    }
    await pause(questionPause)
  }
}
