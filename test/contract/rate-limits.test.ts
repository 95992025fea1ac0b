import { sql } from 'slonik'
import { Client } from '../support/client.ts'
import { sharedService, startTestService } from '../support/service.ts'
import { t } from '../support/tap.ts'

t.test('a caller sees what is left and is stopped at the limit with a time to come back', async (t) => {
  const { signUp } = await sharedService({ RATE_READ_PER_MIN: '3', RATE_WRITE_PER_MIN: '2' })
  const client = await signUp()
  for (const remaining of ['2', '1', '0']) {
    const { status, headers } = await client.get('/me')
    t.equal(status, 200)
    t.equal(headers.get('x-ratelimit-limit'), '3')
    t.equal(headers.get('x-ratelimit-remaining'), remaining)
    t.match(headers.get('x-ratelimit-reset'), /^([1-9]|[1-5][0-9]|60)$/)
  }
  const { status, headers, body } = await client.get('/me')
  t.equal(status, 429)
  t.match(body.error, { type: 'rate_limit_error', code: 'rate_limited', details: { bucket: 'read' } })
  t.equal(headers.get('retry-after'), String(body.error.details.retry_after))
  t.equal(headers.get('retry-after'), headers.get('x-ratelimit-reset'))
  t.equal(headers.get('x-ratelimit-remaining'), '0')
  t.equal((await client.post('/knowledge-bases', { name: 'x' })).status, 201, 'writes have a bucket of their own')
})

t.test('refused calls count and say so as well', async (t) => {
  const { signUp } = await sharedService({ RATE_WRITE_PER_MIN: '2' })
  const client = await signUp({ scopes: 'read_only' })
  const first = await client.post('/knowledge-bases', { name: 'x' })
  t.equal(first.status, 403)
  t.equal(first.headers.get('x-ratelimit-remaining'), '1')
  await client.post('/knowledge-bases', { name: 'x' })
  t.equal((await client.post('/knowledge-bases', { name: 'x' })).status, 429, 'before the scope is looked at')
})

t.test('one token never uses up the calls of another', async (t) => {
  const { signUp } = await sharedService({ RATE_READ_PER_MIN: '1' })
  const [client, other] = [await signUp(), await signUp()]
  await client.get('/me')
  t.equal((await client.get('/me')).status, 429)
  t.equal((await other.get('/me')).status, 200)
})

t.test('calls that arrive together are not granted more than the limit', async (t) => {
  const { signUp } = await sharedService({ RATE_READ_PER_MIN: '10' })
  const client = await signUp()
  const replies = await Promise.all(Array.from({ length: 40 }, () => client.get('/me')))
  t.equal(replies.filter(({ status }) => status === 200).length, 10)
  t.equal(replies.filter(({ status }) => status === 429).length, 30)
})

t.test('a window ends after its minute, and survives a restart until then', async (t) => {
  const { database, signUp } = await startTestService(t, { RATE_READ_PER_MIN: '1' })
  const client = await signUp()
  await client.get('/me')
  const windows = await database.any(sql.unsafe`SELECT key, points FROM rate_limit_windows`)
  t.match(windows, [{ key: `read:${client.token_id}`, points: 1 }])
  await database.query(sql.unsafe`UPDATE rate_limit_windows SET expire = expire - 60000`)
  t.equal((await client.get('/me')).status, 200)
})

t.test('whoever tries tokens is stopped by address', async (t) => {
  const { origin, signUp } = await startTestService(t, { RATE_IP_PER_MIN: '3', TRUST_PROXY: '1' })
  const from = (address: string) => ({ 'x-forwarded-for': address })
  const guesser = new Client({ origin, token: 'svc_guess' })
  for (const remaining of ['2', '1', '0']) {
    const { status, headers } = await guesser.get('/me', from('192.0.2.1'))
    t.equal(status, 401)
    t.equal(headers.get('x-ratelimit-limit'), '3', 'a refused token is told that it counts')
    t.equal(headers.get('x-ratelimit-remaining'), remaining)
  }
  const stopped = await guesser.get('/me', from('192.0.2.1'))
  t.match(stopped, { status: 429, body: { error: { code: 'rate_limited', details: { bucket: 'ip' } } } })
  t.ok(stopped.headers.get('retry-after'))
  t.equal((await guesser.get('/me', from('192.0.2.2'))).status, 401, 'another address is not')
  t.equal((await (await signUp()).get('/me', from('192.0.2.1'))).status, 200, 'nor is a genuine token')
})

t.test('a limit of zero means none', async (t) => {
  const { signUp } = await sharedService({ RATE_READ_PER_MIN: '0' })
  const { status, headers } = await (await signUp()).get('/me')
  t.equal(status, 200)
  t.notOk(headers.get('x-ratelimit-limit'))
})

t.test('nobody escapes the limits by making more tokens', async (t) => {
  const { signUp } = await sharedService({ RATE_READ_PER_MIN: '4', RATE_USER_FACTOR: '2' })
  const email = 'ada@example.test'
  const tokens = [await signUp({ email }), await signUp({ email }), await signUp({ email })]
  const stranger = await signUp()
  const calls = tokens.flatMap((client) => Array.from({ length: 4 }, () => client.get('/me')))
  const replies = await Promise.all(calls)
  t.equal(replies.filter(({ status }) => status === 200).length, 8, 'twice as many as one token')
  const refused = replies.find(({ status }) => status === 429)
  t.match(refused?.body.error, { code: 'rate_limited', details: { bucket: 'read' } })
  t.equal(refused?.headers.get('retry-after'), refused?.headers.get('x-ratelimit-reset'))
  t.equal((await stranger.get('/me')).headers.get('x-ratelimit-remaining'), '3', 'nor does anybody else pay for it')
})

t.test('a caller is told of the limit that comes first', async (t) => {
  const { signUp } = await sharedService({ RATE_READ_PER_MIN: '4', RATE_USER_FACTOR: '1' })
  const email = 'bob@example.test'
  const [first, second] = [await signUp({ email }), await signUp({ email })]
  for (const remaining of ['3', '2']) t.equal((await first.get('/me')).headers.get('x-ratelimit-remaining'), remaining)
  t.equal((await second.get('/me')).headers.get('x-ratelimit-remaining'), '1')
})

t.test('a factor of zero leaves each token its own limit', async (t) => {
  const { signUp } = await sharedService({ RATE_READ_PER_MIN: '1', RATE_USER_FACTOR: '0' })
  const email = 'ada@example.test'
  for (const client of [await signUp({ email }), await signUp({ email })]) {
    t.equal((await client.get('/me')).status, 200)
  }
})

t.test('far from the limits calls are counted by the share, so that reads are not writes', async (t) => {
  const { database, signUp } = await startTestService(t, { RATE_READ_PER_MIN: '1000' })
  const client = await signUp()
  for (let call = 0; call < 20; call += 1) await client.get('/me')
  const windows = await database.any(sql.unsafe`SELECT key, points FROM rate_limit_windows ORDER BY key`)
  t.same(windows, [
    { key: `read:${client.token_id}`, points: 20 },
    { key: `user-read:${client.user_id}`, points: 60 },
  ])
})
