import { type DeviceRequest, decideRequest, readUserCode, requestOf } from '../../shared/auth/device/authorization.ts'
import { liveTokens } from '../../shared/auth/queries.ts'
import { type Scope, scopeDescriptions } from '../../shared/auth/scopes.ts'
import { addressOf } from '../http/requesters.ts'
import { type AccountCall, accountPage } from './account-page.ts'
import type { PageAnswer } from './page.ts'
import { PageRefusal } from './refusals.ts'
import { view } from './render.ts'

const askView = view<{ typed: string; isWrong: boolean }>('device-code')
const confirmView = view<{
  csrfToken: string
  userCode: string
  clientName: string | null
  permissions: string[]
  canBeReadOnly: boolean
}>('device-confirm')
const doneView = view<{ clientName: string | null; outcome: Outcome }>('device-done')

type Outcome = 'approved' | 'read_only' | 'denied'

/**
 * The page on which a person approves or refuses a device that asks for a token (api/guide/authentication.md#device).
 */
export const devicePage = accountPage({
  path: '/device',
  async get(call) {
    const typed = call.query.get('user_code') ?? ''
    if (typed === '') return { html: ask(call, { typed, isWrong: false }) }
    const found = await findRequest(call, typed)
    if (found === null) return { html: ask(call, { typed, isWrong: true }) }
    return { html: confirm(call, found) }
  },
  async post(call) {
    const typed = call.submitted.field('user_code')
    const found = await findRequest(call, typed)
    const decision = found && decisionOf(call.submitted.field('decision'), found.request)
    if (!found || !decision) return { status: 400, html: ask(call, { typed, isWrong: true }) }
    return decided(call, { ...found, ...decision })
  },
})

type Found = { userCode: string; request: DeviceRequest }

// Finds the request that a typed code names; null for a wrong code. A wrong code counts as a guess, whether it stands
// in the query or in the form.
function findRequest(call: AccountCall, typed: string): Promise<Found | null> {
  const guesses = { 'user-code': call.user.userId, 'user-code-address': addressOf(call.request) }
  return call.service.throttles.guess(guesses, async () => {
    const userCode = readUserCode(typed)
    const request = userCode === null ? null : await requestOf(contextOf(call), userCode)
    return userCode === null || request === null ? null : { userCode, request }
  })
}

type Decision = { outcome: Outcome; scopes: readonly Scope[] | null }

function decisionOf(asked: string, request: DeviceRequest): Decision | null {
  if (asked === 'approve') return { outcome: 'approved', scopes: request.scopes }
  if (asked === 'deny') return { outcome: 'denied', scopes: null }
  const isPossible = asked === 'approve_read_only' && request.readOnly.length > 0
  return isPossible ? { outcome: 'read_only', scopes: request.readOnly } : null
}

async function decided(call: AccountCall, input: Found & Decision): Promise<PageAnswer> {
  const { userCode, request, outcome, scopes } = input
  if (scopes !== null) await requireRoom(call)
  const isRecorded = await decideRequest(contextOf(call), { userCode, userId: call.user.userId, scopes })
  if (!isRecorded) return { status: 400, html: ask(call, { typed: userCode, isWrong: true }) }
  call.service.log.info(
    { request_id: call.response.locals['requestId'], user_id: call.user.userId, outcome },
    'device decided',
  )
  const title = outcome === 'denied' ? 'Device refused' : 'Device connected'
  return { html: doneView({ title, account: call.account, clientName: request.clientName, outcome }) }
}

// Refuses an approval when the person already has as many tokens as allowed. The quota must be checked before the
// decision is recorded. Afterwards only the program, and not the person, would learn that there is no token.
async function requireRoom(call: AccountCall): Promise<void> {
  const { database, config } = call.service
  if ((await liveTokens(database, call.user.userId)) < config.QUOTA_TOKENS) return
  throw new PageRefusal(409, {
    heading: 'Too many tokens',
    advice: `You can have ${config.QUOTA_TOKENS} tokens at a time. Revoke one under “API tokens”, then approve again.`,
  })
}

function ask(call: AccountCall, input: { typed: string; isWrong: boolean }): string {
  return askView({ title: 'Connect a device', account: call.account, ...input })
}

function confirm(call: AccountCall, { userCode, request }: Found): string {
  return confirmView({
    title: 'Connect a device',
    account: call.account,
    csrfToken: call.csrfToken,
    userCode,
    clientName: request.clientName,
    permissions: request.scopes.map((scope) => scopeDescriptions[scope]),
    canBeReadOnly: request.readOnly.length > 0 && request.readOnly.length < request.scopes.length,
  })
}

function contextOf(call: AccountCall) {
  return { db: call.service.database, config: call.service.config }
}
