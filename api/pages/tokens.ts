import { revokeTokenOf, tokensOf } from '../../shared/auth/queries.ts'
import { createToken } from '../../shared/auth/tokens.ts'
import type { Config } from '../../shared/config/config.ts'
import { inTransaction } from '../../shared/database/database.ts'
import { Refusal } from '../../shared/errors/errors.ts'
import { type AccountCall, accountPage } from './account-page.ts'
import { pageMissing } from './refusals.ts'
import { view } from './render.ts'
import { readTokenForm, type TokenForm } from './token-form.ts'
import { type ListedToken, listedToken } from './token-row.ts'

const tokensView = view<{
  csrfToken: string
  tokens: ListedToken[]
  nextAfter: string | null
  form: TokenForm
  created: { name: string; bearer: string; example: string } | null
}>('tokens')

/** The API tokens of whoever is signed in (decisions C, 99 and 100). */
export const tokensPage = accountPage({
  path: '/account/tokens',
  async get(call) {
    return { html: await show(call, {}) }
  },
  async post(call) {
    const form = readTokenForm(call.submitted)
    if (form.request === null) return { status: 400, html: await show(call, { form }) }
    const { request } = form
    const { config, database } = call.service
    const { userId } = call.user
    const token = await inTransaction(database, (tx) => createToken({ tx, config, userId }, request)).catch(unlessFull)
    if (token === null) return { status: 409, html: await show(call, { form: fullForm(form, config) }) }
    note(call, { token_id: token.id, what: 'token created' })
    const example = `curl -H "Authorization: Bearer $TOKEN" ${config.PUBLIC_ORIGIN}/api/v1/me`
    return { status: 201, html: await show(call, { created: { name: request.name, bearer: token.bearer, example } }) }
  },
})

/** Revokes a token; that of somebody else does not exist (decisions C, 101). */
export const revokeTokenPage = accountPage({
  path: '/account/tokens/{tokenId}/revoke',
  async post(call) {
    const id = call.params['tokenId'] ?? ''
    if (!(await revokeTokenOf(call.service.database, { userId: call.user.userId, id }))) throw pageMissing()
    note(call, { token_id: id, what: 'token revoked' })
    return { location: '/account/tokens' }
  },
})

function unlessFull(error: unknown): null {
  if (error instanceof Refusal && error.code === 'quota_exceeded') return null
  throw error
}

function fullForm(form: TokenForm, { QUOTA_TOKENS }: Config): TokenForm {
  const message = `You can have ${QUOTA_TOKENS} tokens at a time. Revoke one that is no longer needed first.`
  return { ...form, problem: { field: null, message } }
}

const shownAtOnce = 100

type Shown = { form?: TokenForm; created?: { name: string; bearer: string; example: string } }

async function show(call: AccountCall, { form, created }: Shown): Promise<string> {
  const after = call.query.get('after')
  const page = { userId: call.user.userId, after, limit: shownAtOnce + 1 }
  const tokens = await tokensOf(call.service.database, page)
  const now = Date.now()
  return tokensView({
    title: 'API tokens',
    account: call.account,
    csrfToken: call.csrfToken,
    tokens: tokens.slice(0, shownAtOnce).map((token) => listedToken(token, now)),
    nextAfter: tokens.length > shownAtOnce ? (tokens[shownAtOnce - 1]?.id ?? null) : null,
    form: form ?? { request: null, name: '', access: 'read_only', days: '', problem: null },
    created: created ?? null,
  })
}

function note(call: AccountCall, { token_id, what }: { token_id: string; what: string }): void {
  const request_id = call.response.locals['requestId'] as string
  call.service.log.info({ request_id, user_id: call.user.userId, token_id }, what)
}
