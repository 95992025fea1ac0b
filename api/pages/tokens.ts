import { randomUUID } from 'node:crypto'
import { revokeTokenOf, tokensOf } from '../../shared/auth/queries.ts'
import { isReading, scopes } from '../../shared/auth/scopes.ts'
import { bearerOf, createToken, type TokenRequest } from '../../shared/auth/tokens.ts'
import type { Config } from '../../shared/config/config.ts'
import { Refusal } from '../../shared/errors/errors.ts'
import { type AccountCall, accountPage } from './account-page.ts'
import { keyedForm } from './keyed-form.ts'
import { type ListedGrant, listedGrants } from './oauth-grants.ts'
import { type Form, page } from './page.ts'
import { pageMissing } from './refusals.ts'
import { type Moment, momentOf, view } from './render.ts'
import { writeOnce } from './write-once.ts'

// The most characters of a token's name, and the most tokens on a page of the list.
const longestName = 80
const shownAtOnce = 100

const tokensView = view<{
  csrfToken: string
  grants: ListedGrant[]
  tokens: ListedToken[]
  nextAfter: string | null
  form: TokenForm
  created: CreatedToken | null
}>('tokens')

/** The address of the account. This page redirects to the tokens of the account. */
export const accountIndexPage = page({
  path: '/account',
  async get() {
    return { location: '/account/tokens' }
  },
})

/** The API tokens of the person who is signed in, and the form for a new token. */
export const tokensPage = accountPage({
  path: '/account/tokens',
  async get(call) {
    return { html: await show(call, {}) }
  },
  async post(call) {
    const form = readTokenForm(call.submitted)
    if (form.request === null) return { status: 400, html: await show(call, { form }) }
    const { config } = call.service
    const owner = { config, userId: call.user.userId }
    const sent = { form: call.submitted, files: [], purpose: 'token' }
    const request = { ...form.request, requestId: keyedForm(call, sent)?.scope.key ?? randomUUID() }
    const id = await writeOnce(call, sent, async ({ tx }) => {
      const created = await createToken({ tx, ...owner }, request)
      log(call, { token_id: created, message: 'token created' })
      return created
    }).catch(unlessFull)
    if (id === null) return { status: 409, html: await show(call, { form: fullForm(form, config) }) }
    const example = `curl -H "Authorization: Bearer $TOKEN" ${config.PUBLIC_ORIGIN}/api/v1/me`
    const bearer = bearerOf(owner, { id, requestId: request.requestId })
    return { status: 201, html: await show(call, { created: { id, name: request.name, bearer, example } }) }
  },
})

/** Revokes a token of the person who is signed in. The token of another person is answered with 404. */
export const revokeTokenPage = accountPage({
  path: '/account/tokens/{tokenId}/revoke',
  async post(call) {
    const id = call.params['tokenId'] ?? ''
    if (!(await revokeTokenOf(call.service.database, { userId: call.user.userId, id }))) throw pageMissing()
    log(call, { token_id: id, message: 'token revoked' })
    return { location: '/account/tokens' }
  },
})

/** The form for a new token as it was filled in. `request` is null when a field is wrong. */
type TokenForm = {
  request: TokenRequest | null
  name: string
  access: string
  days: string
  /** `field` is null when the problem is not in a field. */
  problem: { field: 'name' | 'access' | 'days' | null; message: string } | null
}

// Reads the fields `name`, `access` (`read_write` or `read_only`) and `expires_in_days` (empty means never).
function readTokenForm(form: Form): TokenForm {
  const filled = { name: form.field('name').trim(), access: form.field('access'), days: form.field('expires_in_days') }
  const refuse = (field: 'name' | 'access' | 'days', message: string) => ({
    ...filled,
    request: null,
    problem: { field, message },
  })
  const { name, access, days } = filled
  if (name === '' || [...name].length > longestName)
    return refuse('name', `Give it a name of 1 to ${longestName} characters.`)
  if (access !== 'read_write' && access !== 'read_only') return refuse('access', 'Choose what the token may do.')
  if (days !== '' && !/^[1-9][0-9]{0,3}$/.test(days)) return refuse('days', 'Choose when the token expires.')
  return { ...filled, problem: null, request: { name, access, expiresInDays: days === '' ? null : Number(days) } }
}

function unlessFull(error: unknown): null {
  if (error instanceof Refusal && error.code === 'quota_exceeded') return null
  throw error
}

function fullForm(form: TokenForm, { QUOTA_TOKENS }: Config): TokenForm {
  const message = `You can have ${QUOTA_TOKENS} tokens at a time. Revoke one that is no longer needed first.`
  return { ...form, problem: { field: null, message } }
}

type CreatedToken = { id: string; name: string; bearer: string; example: string }
type Shown = { form?: TokenForm; created?: CreatedToken }

async function show(call: AccountCall, { form, created }: Shown): Promise<string> {
  const after = call.query.get('after')
  const page = { userId: call.user.userId, after, limit: shownAtOnce + 1 }
  const tokens = await tokensOf(call.service.database, page)
  const now = Date.now()
  return tokensView({
    title: 'API tokens',
    account: call.account,
    csrfToken: call.csrfToken,
    grants: await listedGrants(call),
    tokens: tokens.slice(0, shownAtOnce).map((token) => listedToken(token, now)),
    nextAfter: tokens.length > shownAtOnce ? (tokens[shownAtOnce - 1]?.id ?? null) : null,
    form: form ?? { request: null, name: '', access: 'read_only', days: '', problem: null },
    // A form that arrives again after its token was revoked shows no token.
    created: tokens.some(({ id }) => id === created?.id) ? (created ?? null) : null,
  })
}

/** A token as a row of the list. */
type ListedToken = {
  id: string
  name: string
  access: string
  scopes: string
  created: Moment
  lastUsed: Moment | null
  expires: Moment | null
  expired: boolean
}

type TokenRow = Awaited<ReturnType<typeof tokensOf>>[number]

// `now` is in Unix milliseconds.
function listedToken(token: TokenRow, now: number): ListedToken {
  return {
    id: token.id,
    name: token.name ?? 'Unnamed',
    access: token.scopes.every(isReading) ? 'Read only' : 'Read and write',
    scopes: token.scopes.length === scopes.length ? 'all scopes' : token.scopes.join(', '),
    created: momentOf(token.created_at),
    lastUsed: token.last_used_at === null ? null : momentOf(token.last_used_at),
    expires: token.expires_at === null ? null : momentOf(token.expires_at),
    expired: token.expires_at !== null && token.expires_at <= now,
  }
}

function log(call: AccountCall, { token_id, message }: { token_id: string; message: string }): void {
  const request_id = call.response.locals['requestId'] as string
  call.service.log.info({ request_id, user_id: call.user.userId, token_id }, message)
}
