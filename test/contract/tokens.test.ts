import { sql } from 'slonik'
import t from 'tap'
import { revokeToken } from '../../shared/auth/queries.ts'
import { randomText } from '../../shared/auth/tokens.ts'
import { Client } from '../support/client.ts'
import { startTestService } from '../support/service.ts'

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
    'Bearer',
    'Bearer x',
    `Basic ${token}`,
    token,
    `Bearer ${token} ${token}`,
    `Bearer ${token}x`,
    `Bearer ${token.slice(0, -1)}`,
    `Bearer ${token.toLowerCase()}`,
    `Bearer svc_${token_id}_${randomText(43)}`,
    `Bearer svc_${token_id}_${other.token?.split('_').at(-1)}`,
    `Bearer svc_tok_01ARZ3NDEKTSV4RRFFQ69G5FAV_${randomText(43)}`,
    'Bearer \u00e9',
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
