import { requireWriter } from '../../../shared/auth/caller.ts'
import type { Ahead } from '../../../shared/computations/ahead.ts'
import { Refusal } from '../../../shared/errors/errors.ts'
import { PublicShareChanges, PublicShareInput } from '../../../shared/sharing/schema.ts'
import {
  changeShare,
  ensureShare,
  requireFutureExpiry,
  revokeShare,
  type ShareSecurity,
  shareSecurity,
} from '../../../shared/sharing/share.ts'
import { bodyReader } from '../../http/input.ts'
import type { DocumentCall } from '../document-call.ts'
import { actionOf, FormRefusal } from '../form-refusal.ts'
import type { Form } from '../page.ts'
import { pageWrite, recordPageWrite } from '../page-writes.ts'
import { writeOnce } from '../write-once.ts'

/** Why a form was refused: the status of the answer, a sentence for the person, and the field that is wrong. */
export type SharingProblem = { status: number; message: string; field: 'expires' | 'password' | null }

const dayMs = 86_400_000

const readInput = bodyReader(PublicShareInput) as (body: unknown) => ShareInput
const readChanges = bodyReader(PublicShareChanges) as (body: unknown) => ShareInput

type ShareInput = { expires_at?: number | null; password?: string | null }

/**
 * Does what a form of the page asks for. The button says what: `create`, `expiry`, `password`, `no_password` or
 * `revoke`. Returns null, or the problem when somebody has made a link in the meantime. Refuses as the operations of
 * the API do.
 */
export async function changeSharing(call: DocumentCall, form: Form): Promise<SharingProblem | null> {
  requireWriter(call.caller, call.document.workspace_id)
  return actionOf(actions, form.field('action'))(call, form)
}

type Action = (call: DocumentCall, form: Form) => Promise<SharingProblem | null>

const actions: ReadonlyMap<string, Action> = new Map([
  ['create', create],
  ['expiry', changing((form) => ({ expires_at: expiryOf(form) }))],
  ['password', changing((form) => ({ password: form.field('password') }))],
  ['no_password', changing(() => ({ password: null }))],
  ['revoke', revoke],
])

/** Puts a refusal into words for the page. What no change of the form can help is thrown again. */
export function sharingProblemOf(error: unknown): SharingProblem {
  if (!(error instanceof Refusal)) throw error
  if (error instanceof FormRefusal) return { status: error.status, message: error.message, field: null }
  const { status, code, details } = error
  if (code === 'share_not_found') {
    return { status, message: 'This link was revoked in the meantime, so nothing was changed.', field: null }
  }
  if (code === 'public_share_disabled') {
    return { status, message: 'Whoever runs this service allows no public links.', field: null }
  }
  if (code !== 'invalid_request') throw error
  const { fields = [] } = details as { fields?: { path: string }[] }
  if (fields[0]?.path === '/password') {
    return { status, message: 'A password has 8 to 200 characters, without control characters.', field: 'password' }
  }
  return { status, message: 'Choose a time in the future, in UTC.', field: 'expires' }
}

async function create(call: DocumentCall, form: Form): Promise<SharingProblem | null> {
  const { caller, document, service } = call
  const password = form.field('password')
  const body = readInput({ expires_at: expiryOf(form), ...(password !== '' && { password }) })
  requireFutureExpiry(body.expires_at)
  const { PUBLIC_SHARE_ENABLED: enabled } = service.config
  const made = await writeOnce(call, { form }, async ({ tx, ahead }) => {
    const security = () => securityOf(body, ahead)
    const { created } = await ensureShare(tx, { documentId: document.id, caller, enabled, security })
    await recordPageWrite(tx, { call, action: 'ensurePublicShare', documentIds: [document.id] })
    return created ? 'new' : 'old'
  })
  if (made === 'new') return null
  const message = 'Somebody has made a link in the meantime. It is as it was: your expiry and password do not count.'
  return { status: 409, message, field: null }
}

function changing(changesOf: (form: Form) => unknown): Action {
  return async (call, form) => {
    const { caller } = call
    const body = readChanges(changesOf(form))
    requireFutureExpiry(body.expires_at)
    await pageWrite(call, async ({ tx, ahead }) => {
      const security = () => securityOf(body, ahead)
      requireOwn(call, await changeShare(tx, { id: form.field('share'), caller, security }))
      await recordPageWrite(tx, { call, action: 'updatePublicShare', documentIds: [call.document.id] })
    })
    return null
  }
}

async function revoke(call: DocumentCall, form: Form): Promise<null> {
  await pageWrite(call, async ({ tx, caller }) => {
    requireOwn(call, await revokeShare(tx, { id: form.field('share'), caller }))
    await recordPageWrite(tx, { call, action: 'deletePublicShare', documentIds: [call.document.id] })
  })
  return null
}

// Hashes the password only once the write has been counted, and the link or its document was found. The transaction
// holds no lock meanwhile.
function securityOf(body: ShareInput, ahead: Ahead): Promise<ShareSecurity> {
  const acquire = () => shareSecurity(body)
  return ahead.acquired({ name: 'security of a share', input: body, acquire, release: async () => {} })
}

// The expiry of a form in Unix milliseconds, null for never, and not a number where no time was chosen. The field
// `expires` is empty, a number of days, or `at` for the time in the field of that name.
function expiryOf(form: Form): number | null {
  const expires = form.field('expires')
  if (expires === '') return null
  if (expires === 'at') return Date.parse(`${form.field('at')}Z`)
  return /^[1-9][0-9]{0,3}$/.test(expires) ? Date.now() + Number(expires) * dayMs : Number.NaN
}

// Refuses the share of another document, whose page the person has not seen. The transaction is rolled back.
function requireOwn({ document }: DocumentCall, { id, document_id }: { id: string; document_id: string }): void {
  if (document_id !== document.id) throw new Refusal('share_not_found', { details: { id } })
}
