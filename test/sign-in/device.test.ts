import { sql } from 'slonik'
import { pendingPerAddress } from '../../shared/auth/device/authorization.ts'
import { scopes } from '../../shared/auth/scopes.ts'
import { Client } from '../support/client.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { t } from '../support/tap.ts'
import { signedInVisitor, type Visitor } from '../support/visitor.ts'

const readOnly = scopes.filter((scope) => scope.endsWith(':read'))

t.test('a program without a browser gets a token from a person who has one, once', async (t) => {
  const service = await startTestService(t, { PUBLIC_ORIGIN: 'https://kb.example.test' })
  const { device, person } = await deviceAndPerson(service)
  const begun = await device.post('/auth/device/code', { client_name: '  kb-cli  ' })
  t.match(begun, { status: 200, headers: new Map([['cache-control', 'no-store']]) })
  const { device_code, user_code, ...rest } = begun.body.data
  t.match(device_code, /^[A-Za-z0-9]{43}$/)
  t.match(user_code, /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/)
  t.strictSame(rest, {
    verification_uri: 'https://kb.example.test/device',
    verification_uri_complete: `https://kb.example.test/device?user_code=${user_code}`,
    expires_in: 900,
    interval: 5,
  })
  const waiting = await device.post('/auth/device/token', { device_code })
  t.match(waiting, { status: 400, body: { error: { type: 'request_error', code: 'authorization_pending' } } })
  t.equal(waiting.headers.get('cache-control'), 'no-store')

  const page = await person.get(`/device?user_code=${user_code}`)
  t.match(page.html, /“<bdi>kb-cli<\/bdi>”/)
  t.match(page.html, 'Create, change and delete documents')
  t.match(page.html, user_code)
  const done = await decide(person, { user_code, decision: 'approve' })
  t.match(done, { status: 200, html: 'Device connected' })

  const { status, headers, body } = await device.post('/auth/device/token', { device_code })
  t.equal(status, 200, 'what was decided is told at once')
  t.equal(headers.get('cache-control'), 'no-store')
  const { access_token, token_id, expires_at, ...token } = body.data
  t.match(access_token, new RegExp(`^svc_${token_id}_[A-Za-z0-9]{43}$`))
  t.same(token, { token_type: 'Bearer', scope: scopes.join(' '), scopes, expires_in: 7_776_000 })
  const me = await new Client({ origin: service.origin, token: access_token }).get('/me')
  t.match(me.body.data, { token_id, scopes: [...scopes], expires_at, user: { email: 'ada@example.test' } })
  t.match((await person.get('/account/tokens')).html, /<bdi>kb-cli<\/bdi>/)
  const again = await device.post('/auth/device/token', { device_code })
  t.match(again, { status: 400, body: { error: { code: 'invalid_grant' } } })
})

t.test('a person can let a device read only, or refuse it', async (t) => {
  const service = await startTestService(t)
  const { device, person } = await deviceAndPerson(service)
  const wanted = [
    { asked: undefined, decision: 'approve_read_only', granted: readOnly },
    { asked: 'read_only', decision: 'approve', granted: readOnly },
    {
      asked: ['summaries:generate', 'documents:read'],
      decision: 'approve',
      granted: ['documents:read', 'summaries:generate'],
    },
    { asked: ['documents:write', 'concepts:read'], decision: 'approve_read_only', granted: ['concepts:read'] },
  ]
  for (const { asked, decision, granted } of wanted) {
    const { device_code, user_code } = await begin(device, { scopes: asked })
    t.equal((await decide(person, { user_code, decision })).status, 200)
    t.same((await device.post('/auth/device/token', { device_code })).body.data.scopes, granted)
  }
  const reader = await begin(device, { scopes: 'read_only' })
  const offered = (await person.get(`/device?user_code=${reader.user_code}`)).html
  t.notMatch(offered, 'approve_read_only', 'who asks for reading alone is not offered it twice')
  const writer = await begin(device, { scopes: ['documents:write'] })
  t.notMatch((await person.get(`/device?user_code=${writer.user_code}`)).html, 'approve_read_only')
  t.equal((await decide(person, { ...writer, decision: 'approve_read_only' })).status, 400, 'nothing would be left')
  t.equal((await decide(person, { ...writer, decision: 'deny' })).status, 200)
  t.match(await device.post('/auth/device/token', writer), { status: 400, body: { error: { code: 'access_denied' } } })
  t.match(await decide(person, { ...writer, decision: 'approve' }), { status: 400 }, 'a decision is final')
})

t.test('a code ends with its lifetime, before and after it was confirmed', async (t) => {
  const service = await startTestService(t)
  const { device, person } = await deviceAndPerson(service)
  const [late, confirmed] = [await begin(device), await begin(device)]
  await decide(person, { ...confirmed, decision: 'approve' })
  await service.database.query(sql.unsafe`UPDATE device_codes SET expires_at = now()`)
  for (const code of [late, confirmed]) {
    const reply = await device.post('/auth/device/token', code)
    t.match(reply, { status: 400, body: { error: { code: 'expired_token' } } })
  }
  const page = await person.get(`/device?user_code=${late.user_code}`)
  t.match(page, { status: 200, html: 'has expired' })
  t.equal((await decide(person, { ...late, decision: 'approve' })).status, 400)
  t.match(await device.post('/auth/device/token', { device_code: 'x'.repeat(43) }), {
    status: 400,
    body: { error: { code: 'invalid_grant' } },
  })
})

t.test('whoever polls too fast is slowed down for good', async (t) => {
  const service = await startTestService(t, { DEVICE_POLL_INTERVAL_SECONDS: '300' })
  const device = new Client({ origin: service.origin })
  const code = await begin(device)
  const poll = () => device.post('/auth/device/token', code)
  const pass = (seconds: number) =>
    service.database.query(
      sql.unsafe`UPDATE device_codes SET last_polled_at = last_polled_at - make_interval(secs => ${seconds})`,
    )
  t.equal((await poll()).body.error.code, 'authorization_pending')
  for (const interval of [305, 310]) {
    const { status, headers, body } = await poll()
    t.match({ status, body }, { status: 400, body: { error: { code: 'slow_down', details: { interval } } } })
    t.equal(headers.get('retry-after'), String(interval))
  }
  await pass(310)
  t.equal((await poll()).body.error.code, 'authorization_pending', 'in time again')
  await pass(10)
  t.match((await poll()).body.error, { code: 'slow_down', details: { interval: 315 } }, 'the longer interval stays')
})

t.test('polls that arrive together get one token between them', async (t) => {
  const service = await startTestService(t)
  const { device, person } = await deviceAndPerson(service)
  const code = await begin(device)
  await decide(person, { ...code, decision: 'approve' })
  const replies = await Promise.all(Array.from({ length: 8 }, () => device.post('/auth/device/token', code)))
  t.equal(replies.filter(({ status }) => status === 200).length, 1)
  const others = replies.filter(({ status }) => status !== 200)
  t.ok(others.every(({ body }) => body.error.code === 'invalid_grant'))
  t.equal(await service.database.oneFirst(sql.unsafe`SELECT count(*) FROM tokens WHERE name <> 'bootstrap'`), 1)
})

t.test('what a device may ask for is checked, and a name is only a name', async (t) => {
  const service = await startTestService(t)
  const { device, person } = await deviceAndPerson(service)
  for (const [asked, unknown] of [
    ['admin', ['admin']],
    ['', ['']],
    [[], []],
    [['documents:read', 'documents:delete'], ['documents:delete']],
  ] as const) {
    const reply = await device.post('/auth/device/code', { scopes: asked })
    t.match(reply, { status: 400, body: { error: { code: 'invalid_scope', details: { unknown } } } }, String(asked))
  }
  for (const body of [{ scopes: [1] }, { scopes: 7 }, { client_name: 'x'.repeat(81) }]) {
    t.match(await device.post('/auth/device/code', body), { status: 400, body: { error: { code: 'invalid_request' } } })
  }
  t.match(await device.post('/auth/device/token', {}), { status: 400, body: { error: { code: 'invalid_request' } } })
  t.equal((await device.call('POST', '/auth/device/code')).status, 200, 'the body is optional')
  for (const client_name of ['\u{1F418}'.repeat(80), '', null, '<img src=x onerror=alert(1)>"\'&', '\u202Egnp.exe']) {
    const { user_code } = await begin(device, { client_name })
    const { html } = await person.get(`/device?user_code=${user_code}`)
    t.notMatch(html, '<img src=x')
    t.match(html, !client_name ? 'gave no name' : '“<bdi>')
  }
})

t.test('a code is typed as people type', async (t) => {
  const service = await startTestService(t)
  const { device, person } = await deviceAndPerson(service)
  const { user_code } = await begin(device)
  const bare = user_code.replace('-', '')
  for (const typed of [
    user_code.toLowerCase(),
    bare,
    ` ${bare.toLowerCase()} `,
    bare.split('').join('-'),
    user_code.replace('-', '–'),
  ]) {
    t.match((await person.get(`/device?user_code=${encodeURIComponent(typed)}`)).html, 'approve', typed)
  }
  t.match(await decide(person, { user_code: bare.toLowerCase(), decision: 'nonsense' }), { status: 400 })
  t.equal((await decide(person, { user_code: bare.toLowerCase(), decision: 'approve' })).status, 200)
})

t.test('the database that is stolen confirms and exchanges nothing', async (t) => {
  const service = await startTestService(t)
  const { device_code, user_code } = await begin(new Client({ origin: service.origin }))
  const rows = await service.database.any(sql.unsafe`SELECT d::text AS stored FROM device_codes d`)
  for (const secret of [device_code, user_code, user_code.replace('-', '')]) t.notMatch(JSON.stringify(rows), secret)
})

t.test('nobody finds a code by trying', async (t) => {
  const service = await startTestService(t, { TRUST_PROXY: '1' })
  const { device, user } = await deviceAndPerson(service)
  const { user_code } = await begin(device)
  const guesser = await signedInVisitor(service, { userId: user.user_id, address: '192.0.2.1' })
  for (let guess = 0; guess < 10; guess += 1) {
    t.equal((await guesser.get(`/device?user_code=BBBB-BBB${'BCDFGHJKLM'[guess]}`)).status, 200)
  }
  const stopped = await guesser.get(`/device?user_code=${user_code}`)
  t.match(stopped, { status: 429, html: 'Too many attempts' })
  t.ok(Number(stopped.headers.get('retry-after')) > 0)
  t.notMatch(stopped.html, 'approve')
  const elsewhere = await signedInVisitor(service, { userId: user.user_id, address: '192.0.2.2' })
  t.equal((await elsewhere.get(`/device?user_code=${user_code}`)).status, 429, 'the account counts, not the browser')
  const accomplices = [await service.signUp(), await service.signUp(), await service.signUp()]
  const statuses: number[] = []
  for (const { user_id } of accomplices) {
    const accomplice = await signedInVisitor(service, { userId: user_id, address: '192.0.2.1' })
    for (let guess = 0; guess < 10; guess += 1) statuses.push((await accomplice.get('/device?user_code=x')).status)
  }
  t.same(statuses.filter((status) => status === 200).length, 20, 'the address counts over all its accounts')
  const other = await signedInVisitor(service, { userId: (await service.signUp()).user_id, address: '192.0.2.3' })
  for (let look = 0; look < 12; look += 1) await other.get(`/device?user_code=${user_code}`)
  t.equal((await other.get(`/device?user_code=${user_code}`)).status, 200, 'a code that is right is no guess')
})

t.test('no address can fill the table with codes', async (t) => {
  const { origin, database } = await startTestService(t, { TRUST_PROXY: '1' })
  const device = new Client({ origin })
  const request = (address: string) => device.post('/auth/device/code', {}, { 'x-forwarded-for': address })
  const replies = await Promise.all(Array.from({ length: pendingPerAddress + 5 }, () => request('2001:db8::1')))
  t.equal(replies.filter(({ status }) => status === 200).length, pendingPerAddress)
  const refused = await request('2001:db8::ffff')
  t.match(refused, { status: 429, body: { error: { code: 'rate_limited', details: { bucket: 'ip' } } } })
  t.ok(Number(refused.headers.get('retry-after')) > 60)
  t.equal((await request('2001:db8:0:1::1')).status, 200, 'another network is not concerned')
  await database.query(sql.unsafe`UPDATE device_codes SET expires_at = now()`)
  t.equal((await request('2001:db8::1')).status, 200)
})

t.test('calls of the device flow are counted by address and need nothing else', async (t) => {
  const { origin } = await startTestService(t, { RATE_IP_PER_MIN: '2', TRUST_PROXY: '1' })
  const device = new Client({ origin, token: 'svc_nonsense' })
  const key = { 'idempotency-key': 'x'.repeat(500), 'x-forwarded-for': '192.0.2.1' }
  const first = await device.post('/auth/device/code', {}, key)
  t.equal(first.status, 200, 'neither a wrong token nor a key is looked at')
  t.equal(first.headers.get('x-ratelimit-limit'), '2')
  const poll = await device.post('/auth/device/token', { device_code: 'x' }, key)
  t.equal(poll.headers.get('x-ratelimit-remaining'), '0', 'both count together')
  const stopped = await device.post('/auth/device/code', {}, key)
  t.match(stopped, { status: 429, body: { error: { code: 'rate_limited', details: { bucket: 'ip' } } } })
  t.equal(stopped.headers.get('cache-control'), 'no-store')
})

t.test('a device gets no token beyond those that its person may have, and can try again', async (t) => {
  const service = await startTestService(t, { QUOTA_TOKENS: '2' })
  const { device, person } = await deviceAndPerson(service)
  const approved = await begin(device)
  t.equal((await decide(person, { ...approved, decision: 'approve' })).status, 200)
  const { token_id } = await service.signUp({ email: 'ada@example.test' })
  const exchange = () => device.post('/auth/device/token', { device_code: approved.device_code })
  const details = { quota: 'tokens', limit: 2, used: 2 }
  t.match(await exchange(), { status: 409, body: { error: { code: 'quota_exceeded', details } } })

  const later = await begin(device)
  const full = await decide(person, { ...later, decision: 'approve' })
  t.match(full, { status: 409, html: 'You can have 2 tokens at a time.' })
  t.equal((await decide(person, { ...later, decision: 'deny' })).status, 200, 'refusing needs no room')

  await person.send(`/account/tokens/${token_id}/revoke`, {})
  t.equal((await exchange()).status, 200, 'the approval still stands')
})

async function deviceAndPerson(service: TestService) {
  const user = await service.signUp({ email: 'ada@example.test' })
  const person = await signedInVisitor(service, { userId: user.user_id })
  return { device: new Client({ origin: service.origin }), person, user }
}

async function begin(device: Client, body: object = {}): Promise<{ device_code: string; user_code: string }> {
  const reply = await device.post('/auth/device/code', body)
  if (reply.status !== 200) throw new Error(`${reply.status} ${reply.text}`)
  return reply.body.data
}

function decide(person: Visitor, { user_code, decision }: { user_code: string; decision: string }) {
  return person.send('/device', { user_code, decision })
}
