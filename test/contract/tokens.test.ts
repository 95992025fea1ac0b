import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { sql } from 'slonik'
import { createApp } from '../../api/app.ts'
import { startService } from '../../api/start-service.ts'
import { revokeToken } from '../../shared/auth/queries.ts'
import { randomText } from '../../shared/auth/tokens.ts'
import { Client } from '../support/client.ts'
import { startTestService } from '../support/service.ts'
import { t } from '../support/tap.ts'

const shared = await startTestService(t)

t.test('a call without a token is told that one is needed', async (t) => {
  const { origin } = shared
  const client = new Client({ origin })
  for (const authorization of [undefined, '', '  ']) {
    const reply = await client.get('/me', authorization === undefined ? {} : { authorization })
    t.match(reply, { status: 401, body: { error: { type: 'authentication_error', code: 'missing_token' } } })
    t.equal(reply.headers.get('www-authenticate'), 'Bearer realm="svc"')
  }
  t.equal((await client.get('/me?access_token=svc_tok&token=x')).body.error.code, 'missing_token')
})

t.test('a token that is not exactly right opens nothing', async (t) => {
  const { origin, signUp } = shared
  const { token = '', token_id } = await signUp()
  const other = await signUp()
  const wrong = [
    ...['Bearer', 'Bearer x', `Basic ${token}`, token, `Bearer ${token} ${token}`, `Bearer ${token}x`],
    ...[`Bearer ${token.slice(0, -1)}`, `Bearer ${token.toLowerCase()}`, `Bearer svc_${token_id}_${randomText(43)}`],
    ...[`Bearer svc_${token_id}_${other.token?.split('_').at(-1)}`],
    ...[`Bearer svc_tok_01ARZ3NDEKTSV4RRFFQ69G5FAV_${randomText(43)}`, 'Bearer \u00e9'],
  ]
  for (const authorization of wrong) {
    const reply = await new Client({ origin }).get('/me', { authorization })
    t.match(
      reply,
      { status: 401, body: { error: { type: 'authentication_error', code: 'invalid_token' } } },
      authorization,
    )
    t.equal(reply.headers.get('www-authenticate'), 'Bearer realm="svc", error="invalid_token"')
    t.notOk(reply.body.error.details)
  }
  t.equal((await new Client({ origin }).get('/me', { authorization: `bearer  ${token}` })).status, 200)
})

t.test('a token is of no use from the moment it is revoked or expires', async (t) => {
  const { database, signUp } = shared
  const [revoked, expired] = [await signUp(), await signUp()]
  t.equal((await revoked.get('/me')).status, 200)
  await revokeToken(database, revoked.token_id)
  const refused = await revoked.get('/me')
  t.match(refused, { status: 401, body: { error: { code: 'token_revoked' } } })
  t.match(refused.headers.get('www-authenticate'), 'error="invalid_token"')
  await database.query(sql.unsafe`UPDATE tokens SET expires_at = now() WHERE id = ${expired.token_id}`)
  t.match(await expired.get('/me'), { status: 401, body: { error: { code: 'token_expired' } } })
  await revokeToken(database, expired.token_id)
  t.match(await expired.get('/me'), { body: { error: { code: 'token_revoked' } } })
})

t.test('callers who call at the same moment are never taken for one another', async (t) => {
  const { database, origin, signUp } = shared
  const callers = await Promise.all(Array.from({ length: 12 }, () => signUp()))
  const revoked = await signUp()
  await revokeToken(database, revoked.token_id)
  const stranger = new Client({ origin, token: `svc_tok_01ARZ3NDEKTSV4RRFFQ69G5FAV_${randomText(43)}` })
  for (let round = 0; round < 5; round += 1) {
    const clients = [...callers, stranger, revoked, ...callers.toReversed()]
    const replies = await Promise.all(clients.map((client) => client.get('/me')))
    const answered = replies.map(({ body }) => body.data?.token_id ?? body.error.code)
    const ids = callers.map((caller) => caller.token_id)
    t.strictSame(answered, [...ids, 'invalid_token', 'token_revoked', ...ids.toReversed()])
  }
})

t.test('what a user loses is lost on every API process, however busy, when the loss is answered', async (t) => {
  const { database, config, service, signUp } = shared
  const second = await startService({ config, log: service.log, checkResponses: true })
  const server = createApp(second).listen(0)
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  t.teardown(async () => {
    server.closeAllConnections()
    server.close()
    await second.close()
  })
  const others = await Promise.all(Array.from({ length: 8 }, () => signUp()))
  let over = false
  const traffic = others.map(async ({ bearer = '' }) => {
    while (!over) await new Client({ origin, token: bearer }).get('/me')
  })
  for (let round = 0; round < 5; round += 1) {
    const ada = await signUp()
    const { body } = await ada.post('/knowledge-bases', { name: 'Base' })
    const there = new Client({ origin, token: ada.bearer ?? '' })
    const read = () => there.get(`/knowledge-bases/${body.data.id}`)
    const write = () => there.call('PATCH', `/knowledge-bases/${body.data.id}`, { body: { name: 'Other' } })
    t.equal((await read()).status, 200)
    t.equal((await write()).status, 200)
    await database.query(sql.unsafe`
      UPDATE memberships SET role = 'viewer' WHERE workspace_id = ${ada.workspace_id}`)
    t.match(await write(), { status: 403, body: { error: { code: 'forbidden' } } })
    await database.query(sql.unsafe`DELETE FROM memberships WHERE workspace_id = ${ada.workspace_id}`)
    t.equal((await read()).status, 404)
    await database.query(sql.unsafe`UPDATE tokens SET scopes = '{}' WHERE id = ${ada.token_id}`)
    t.match(await read(), { status: 403, body: { error: { code: 'insufficient_scope' } } })
    await revokeToken(database, ada.token_id)
    t.match(await read(), { status: 401, body: { error: { code: 'token_revoked' } } })
  }
  over = true
  await Promise.all(traffic)
})

t.test('the database that is stolen lets nobody in', async (t) => {
  const { database, signUp } = shared
  const { token = '' } = await signUp()
  const secret = token.split('_').at(-1) ?? ''
  const rows = await database.any(sql.unsafe`SELECT t::text AS stored FROM tokens t`)
  t.notMatch(JSON.stringify(rows), secret)
})

t.test('a lost membership takes effect with the next call', async (t) => {
  const { database, signUp } = shared
  const client = await signUp()
  const { id } = (await client.post('/knowledge-bases', { name: 'x' })).body.data
  await database.query(sql.unsafe`DELETE FROM memberships WHERE user_id = ${client.user_id}`)
  t.equal((await client.get(`/knowledge-bases/${id}`)).status, 404)
  t.same((await client.get('/knowledge-bases')).body.data, [])
  t.match(await client.post('/knowledge-bases', { name: 'y' }), {
    status: 404,
    body: { error: { code: 'workspace_not_found' } },
  })
})
