import { spawn } from 'node:child_process'
import { scryptSync } from 'node:crypto'
import { text as consumed } from 'node:stream/consumers'
import fc from 'fast-check'
import { sql } from 'slonik'
import { nextPath } from '../../api/pages/account-page.ts'
import { bootstrap } from '../../shared/auth/bootstrap.ts'
import { deleteExpiredSignIns, sessionLimits } from '../../shared/auth/sessions.ts'
import { inTransaction } from '../../shared/database/database.ts'
import { p } from '../document/build.ts'
import { Client } from '../support/client.ts'
import { make } from '../support/documents.ts'
import { root } from '../support/processes.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { t } from '../support/tap.ts'
import { hiddenFields, signedInVisitor, Visitor } from '../support/visitor.ts'

const ada = { email: 'ada@example.test', password: 'correct horse' }

const shared = await startTestService(t)

t.test('a person signs in, comes to where they were going, and leaves again', async (t) => {
  const service = await startTestService(t)
  const signedUp = await service.signUp(ada)
  const { user_id } = signedUp
  const browser = new Visitor(service.origin)
  const sent = await browser.get('/device?user_code=BCDF-GHJK')
  t.match(sent, { status: 303, location: '/login?next=%2Fdevice%3Fuser_code%3DBCDF-GHJK' })
  const form = await browser.get(sent.location ?? '')
  t.match(form, { status: 200, html: '<h1 id="heading">Sign in</h1>' })
  const anonymous = browser.cookies.get('svc_session')
  const signedIn = await browser.post('/login', {
    ...hiddenFields(form.html, '/login'),
    email: ' ADA@example.test ',
    password: ada.password,
  })
  t.match(signedIn, { status: 303, location: '/device?user_code=BCDF-GHJK' })
  const [session = '', known = ''] = signedIn.headers.getSetCookie()
  t.match(session, /^svc_session=[A-Za-z0-9]{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/i)
  t.match(known, /^svc_known=.+; HttpOnly; SameSite=Lax$/i)
  t.not(browser.cookies.get('svc_session'), anonymous, 'under a fresh id')
  t.match((await browser.get('/account/tokens')).html, 'Signed in as <bdi>ada@example.test</bdi>')
  t.match(await browser.get('/login?next=/device'), { status: 303, location: '/device' })
  t.match(await browser.get('/account'), { status: 303, location: '/account/tokens' })

  const kept = browser.cookies.get('svc_session') ?? ''
  // The editor notes a document with text that only this browser has.
  const { id: documentId } = await make(signedUp, [p('Water')], { title: '<Trunks>' })
  const deleted = `doc_${'0'.repeat(26)}`
  const own = [documentId, deleted].map((id) => `svc_unsent_${user_id}_${id}`)
  const foreign = `svc_unsent_user_${'0'.repeat(26)}_doc_${'1'.repeat(26)}`
  for (const name of [...own, foreign]) browser.cookies.set(name, 'yes')
  const asked = await browser.post('/logout', {})
  t.equal(asked.status, 409)
  t.match(asked.html, `<a href="/d/${documentId}"><bdi>&lt;Trunks&gt;</bdi></a>`)
  t.match(asked.html, `<a href="/d/${deleted}">A document that was deleted`)
  t.notMatch(asked.html, '1'.repeat(26), 'documents of other people are not named')
  t.equal(asked.headers.get('clear-site-data'), null, 'nothing is deleted yet')
  t.equal((await browser.get('/account/tokens')).status, 200)
  t.match(await browser.post('/logout', { anyway: 'yes' }), { status: 303, location: '/login' })
  for (const name of [...own, foreign]) t.notOk(browser.cookies.has(name))
  t.notOk(browser.cookies.has('svc_session'))
  browser.cookies.set('svc_session', kept)
  t.match(await browser.get('/account/tokens'), { status: 303 }, 'the session has ended, not only its cookie')
  t.match(await browser.get('/account/tokens'), { location: '/login?next=%2Faccount%2Ftokens' })

  const others = [
    await signedInVisitor(service, { userId: user_id }),
    await signedInVisitor(service, { userId: user_id }),
  ]
  await service.signUp({ email: ada.email, password: 'another password' })
  for (const other of others) t.match(await other.get('/account/tokens'), { status: 303 }, 'a new password ends all')
})

t.test('a program signs in with email and password; what a browser sends without our form is refused', async (t) => {
  const service = await startTestService(t)
  await signUpAda(service)
  t.equal((await new Visitor(service.origin).post('/login', { ...ada, password: 'wrong' })).status, 401)
  t.equal((await new Visitor(service.origin).post('/login', ada, { origin: 'https://evil.test' })).status, 403)
  t.equal((await new Visitor(service.origin).post('/login', ada, { 'sec-fetch-site': 'none' })).status, 403)
  const program = new Visitor(service.origin)
  t.equal((await program.post('/login', ada)).status, 303)
  t.equal((await program.get('/account/tokens')).status, 200)
})

t.test('whoever does not have the password learns nothing, not even who has an account', async (t) => {
  const service = await startTestService(t)
  await signUpAda(service)
  await service.signUp({ email: 'program@example.test' })
  const answers: { status: number; html: string }[] = []
  for (const { email, password } of [
    { email: ada.email, password: 'wrong' },
    { email: ada.email, password: 'x'.repeat(5000) },
    { email: 'nobody@example.test', password: ada.password },
    { email: 'program@example.test', password: '' },
  ]) {
    const browser = new Visitor(service.origin)
    const { status, html } = await browser.signIn({ email, password })
    const shown = html.replaceAll(email, 'EMAIL').replaceAll(/name="csrf_token" value="[^"]+"/g, 'TOKEN')
    answers.push({ status, html: shown })
    t.match(await browser.get('/account/tokens'), { status: 303 }, email)
  }
  for (const answer of answers) t.same(answer, answers[0])
  t.match(answers[0], { status: 401, html: 'Email and password do not match' })
  const rows = await service.database.any(sql.unsafe`SELECT key FROM rate_limit_windows`)
  t.notMatch(JSON.stringify(rows), /ada|nobody|example/, 'what is counted names nobody')
})

t.test('behind TLS the cookies never leave it and no other host can plant them', async (t) => {
  const service = await startTestService(t, { PUBLIC_ORIGIN: 'https://kb.example.test' })
  await signUpAda(service)
  const browser = new Visitor(service.origin)
  const { headers, status } = await browser.signIn(ada)
  t.equal(status, 303)
  for (const cookie of headers.getSetCookie())
    t.match(cookie, /^__Host-svc_.*; Path=\/; HttpOnly; Secure; SameSite=Lax$/i)
  t.equal((await browser.get('/account/tokens')).status, 200)
  const session = browser.cookies.get('__Host-svc_session') ?? ''
  const planted = new Visitor(service.origin)
  planted.cookies.set('svc_session', session)
  t.equal((await planted.get('/account/tokens')).status, 303, 'without the prefix it is nothing')
})

t.test('an id that an attacker has planted is worth nothing after signing in', async (t) => {
  const service = await startTestService(t)
  await signUpAda(service)
  const planted = 'A'.repeat(43)
  const victim = new Visitor(service.origin)
  victim.cookies.set('svc_session', planted)
  t.equal((await victim.signIn(ada)).status, 303)
  t.not(victim.cookies.get('svc_session'), planted)
  const attacker = new Visitor(service.origin)
  attacker.cookies.set('svc_session', planted)
  t.equal((await attacker.get('/account/tokens')).status, 303)
  const first = victim.cookies.get('svc_session') ?? ''
  const form = hiddenFields((await attacker.get('/login')).html, '/login')
  victim.cookies.set('svc_known', 'forged.proof')
  t.equal((await victim.post('/login', { ...form, ...ada })).status, 403, 'nor is the token of its form')
  t.equal(victim.cookies.get('svc_session'), first)
  for (const nonsense of ['', 'x', "' OR 1=1 --", 'A'.repeat(44), '\u00e9'.repeat(43)]) {
    attacker.cookies.set('svc_session', encodeURIComponent(nonsense))
    t.equal((await attacker.get('/account/tokens')).status, 303, nonsense)
  }
})

t.test('a session ends after a week, or a day without use, and is then forgotten', async (t) => {
  const service = await startTestService(t)
  const { user_id } = await service.signUp({ email: ada.email })
  const { database } = service
  const browser = await signedInVisitor(service, { userId: user_id })
  const age = (days: number, idleHours: number) =>
    database.query(sql.unsafe`
      UPDATE sessions SET created_at = now() - make_interval(days => ${days}),
        last_seen_at = now() - make_interval(hours => ${idleHours})`)
  const isOpen = async () => (await browser.get('/account/tokens')).status === 200
  await age(6, 23)
  t.ok(await isOpen())
  const idle = await database.oneFirst(sql.unsafe`SELECT now() - last_seen_at < interval '1 hour' FROM sessions`)
  t.equal(idle, true, 'use is noted')
  await age(6, 25)
  t.notOk(await isOpen())
  await age(8, 0)
  t.notOk(await isOpen())
  t.notMatch(
    JSON.stringify(await database.any(sql.unsafe`SELECT s::text AS s FROM sessions s`)),
    browser.cookies.get('svc_session'),
  )
  await signedInVisitor(service, { userId: user_id })
  t.equal(await deleteExpiredSignIns(database, { session: sessionLimits, batch: 10 }), 1)
  t.equal(await database.oneFirst(sql.unsafe`SELECT count(*) FROM sessions`), 1, 'that of the other browser stays')
})

t.test('no other site can do anything in the name of who is signed in', async (t) => {
  const service = await startTestService(t)
  const user = await service.signUp({ email: ada.email })
  const victim = await signedInVisitor(service, { userId: user.user_id })
  const attacker = await signedInVisitor(service, { userId: (await service.signUp()).user_id })
  const own = hiddenFields((await victim.get('/account/tokens')).html, '/logout')
  const foreign = hiddenFields((await attacker.get('/account/tokens')).html, '/logout')
  const { user_code } = (await new Client({ origin: service.origin }).post('/auth/device/code', {})).body.data
  const forms: [string, Record<string, string>][] = [
    ['/account/tokens', { name: 'x', access: 'read_write', expires_in_days: '' }],
    [`/account/tokens/${user.token_id}/revoke`, {}],
    ['/device', { user_code, decision: 'approve' }],
    ['/login', ada],
  ]
  for (const [path, fields] of forms) {
    for (const token of [{}, { csrf_token: '' }, { csrf_token: 'x'.repeat(43) }, foreign]) {
      const { status, html } = await victim.post(path, { ...fields, ...token })
      t.equal(status, 403, path)
      t.match(html, 'Nothing has been done')
    }
    for (const site of ['cross-site', 'same-site']) {
      t.equal(
        (await victim.post(path, { ...fields, ...own }, { 'sec-fetch-site': site })).status,
        403,
        `${path} ${site}`,
      )
    }
    const json = await fetch(service.origin + path, {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie: `svc_session=${victim.cookies.get('svc_session')}`, 'content-type': 'text/plain' },
      body: new URLSearchParams({ ...fields, ...own }).toString(),
    })
    t.equal(json.status, 415, `${path} takes forms alone`)
    t.ok((await victim.get(path)).status !== 201, 'and does nothing on GET')
  }
  t.equal((await victim.post('/logout', {}, { 'sec-fetch-site': 'cross-site' })).status, 403)
  t.equal((await user.get('/me')).status, 200, 'its token lives')
  const tokens = await service.database.oneFirst(
    sql.unsafe`SELECT count(*) FROM tokens WHERE user_id = ${user.user_id}`,
  )
  t.equal(tokens, 1)
  t.equal(await service.database.oneFirst(sql.unsafe`SELECT status FROM device_codes`), 'pending')
  t.equal((await victim.get('/account/tokens')).status, 200, 'who stays signed in')
})

t.test('signing in leads nowhere but back to this service', async (t) => {
  const hostile = [
    ...['https://evil.example', '//evil.example', '/\\evil.example', '\\\\evil.example', '/\t/evil.example'],
    ...['/\n/evil.example', '/.//evil.example', '/x/..//evil.example', '/%2e//evil.example', 'javascript:alert(1)'],
    ...[' //evil.example', '/\r\nSet-Cookie: x=1', 'http:evil.example', '@evil.example', ''],
  ]
  for (const next of hostile) {
    const location = nextPath(next)
    const reached = new URL(location, 'https://kb.example.test')
    t.equal(reached.origin, 'https://kb.example.test', next)
    t.notMatch(location, /[\r\n\t\\]/)
  }
  const part = fc.oneof(
    fc.constantFrom('/', '\\', '//', '.', '..', '@', ':', '%2f', '%5c', '\t', '\n', 'evil.example', 'https:'),
    fc.string(),
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
      const location = nextPath(parts.join(''))
      return (
        new URL(location, 'https://kb.example.test').origin === 'https://kb.example.test' && location.startsWith('/')
      )
    }),
  )
  t.equal(nextPath('/device?user_code=BCDF-GHJK#x'), '/device?user_code=BCDF-GHJK')
  const service = await startTestService(t)
  await signUpAda(service)
  t.match(await new Visitor(service.origin).signIn(ada, '//evil.example/'), { status: 303, location: '/' })
})

t.test('nobody finds a password by trying, and nobody locks its owner out by trying', async (t) => {
  const service = await startTestService(t, { TRUST_PROXY: '1' })
  await signUpAda(service)
  const from = (address: string) => new Visitor(service.origin, { 'x-forwarded-for': address })
  const owner = from('192.0.2.1')
  t.equal((await owner.signIn(ada)).status, 303)
  await owner.post('/logout', {})
  t.equal(await pointsOf('sign-in'), 0, 'a password that is right is no guess')

  const attacker = from('192.0.2.66')
  const form = hiddenFields((await attacker.get('/login')).html, '/login')
  const guess = (password: string) => attacker.post('/login', { ...form, email: ada.email, password })
  t.equal((await guess('wrong')).status, 401)
  await service.database.query(
    sql.unsafe`UPDATE rate_limit_windows SET points = 8 WHERE key LIKE 'sign-in:%' AND points = 1`,
  )
  const replies = await Promise.all(Array.from({ length: 6 }, (_, index) => guess(`wrong ${index}`)))
  t.equal(replies.filter(({ status }) => status === 401).length, 2, 'ten are let through, also of those made at once')
  const stopped = await guess(ada.password)
  t.match(stopped, { status: 429, html: 'Too many attempts' }, 'being right comes too late')
  t.ok(Number(stopped.headers.get('retry-after')) > 0)
  t.equal((await from('192.0.2.2').signIn(ada)).status, 303, 'from another address the owner gets in')

  // As after guesses from a thousand addresses: the account is over its limit for browsers that it does not know.
  await service.database.query(sql.unsafe`
    UPDATE rate_limit_windows SET points = 1000, expire = ${Date.now() + 600_000} WHERE key LIKE 'sign-in-account:%'`)
  t.equal((await from('192.0.2.3').signIn(ada)).status, 429)
  t.equal((await owner.signIn(ada)).status, 303, 'the owner gets in with the browser that was there before')
  const thief = from('192.0.2.4')
  thief.cookies.set('svc_known', `${owner.cookies.get('svc_known')?.split('.')[0]}.${'x'.repeat(43)}`)
  t.equal((await thief.signIn(ada)).status, 429, 'what makes it known cannot be made up')

  async function pointsOf(prefix: string) {
    return await service.database.oneFirst(
      sql.unsafe`SELECT max(points) FROM rate_limit_windows WHERE key LIKE ${`${prefix}:%`}`,
    )
  }
})

t.test('guesses at one account count together, however the email is spelled', async (t) => {
  const service = await startTestService(t)
  const ida = { email: 'ida.kin@example.test', password: 'correct horse' }
  await service.signUp(ida)
  const spellings = [
    'ida.kin@example.test',
    'İda.kin@example.test',
    ' IDA.K\u0130N@EXAMPLE.TEST',
    'ida.\u212ain@example.test',
  ]
  for (const email of spellings) {
    t.equal((await new Visitor(service.origin).signIn({ ...ida, email })).status, 303, `${email} is the account`)
    t.equal((await new Visitor(service.origin).signIn({ email, password: 'wrong' })).status, 401)
  }
  const counted = await service.database.anyFirst(
    sql.unsafe`SELECT points FROM rate_limit_windows WHERE key LIKE 'sign-in-account:%'`,
  )
  t.same(counted, [spellings.length])
})

t.test('a wrong password counts as a failed authentication of the address', async (t) => {
  const service = await startTestService(t, { RATE_IP_PER_MIN: '1', TRUST_PROXY: '1' })
  const visitor = new Visitor(service.origin, { 'x-forwarded-for': '192.0.2.1' })
  const wrong = { email: 'nobody@example.test', password: 'wrong' }
  t.equal((await visitor.signIn(wrong)).status, 401)
  t.equal((await visitor.signIn(wrong)).status, 429)
  const reply = await new Client({ origin: service.origin, token: 'svc_guess' }).get('/me', {
    'x-forwarded-for': '192.0.2.1',
  })
  t.equal(reply.status, 429)
})

t.test('a password of older or broken form lets nobody in and breaks nothing', async (t) => {
  const service = await startTestService(t)
  const { user_id } = await service.signUp({ email: ada.email })
  for (const hash of ['plain', 'scrypt$16$$', 'scrypt$16$c2FsdA$']) {
    await inTransaction(service.database, (tx) =>
      tx.query(sql.unsafe`UPDATE users SET password_hash = ${hash} WHERE id = ${user_id}`),
    )
    t.equal((await new Visitor(service.origin).signIn({ email: ada.email, password: 'plain' })).status, 401, hash)
  }
})

t.test('a session opens no endpoint of the API, and a token no page', async (t) => {
  const service = shared
  const { user_id, token } = await service.signUp({ email: ada.email })
  const browser = await signedInVisitor(service, { userId: user_id })
  for (const path of ['/api/v1/me', '/api/v1/documents', '/api/v1/knowledge-bases']) {
    const { status, html } = await browser.get(path)
    t.equal(status, 401)
    t.match(JSON.parse(html), { error: { code: 'missing_token' } })
  }
  const posted = await browser.post('/api/v1/knowledge-bases', { name: 'x' })
  t.equal(posted.status, 401)
  const nobody = new Visitor(service.origin)
  for (const path of [`/api/v1/me?access_token=${token}`, `/api/v1/me?token=${token}`]) {
    t.equal((await nobody.get(path)).status, 401, 'nor does a token in an address')
  }
  t.equal((await nobody.get('/account/tokens', { authorization: `Bearer ${token}` })).status, 303)
  t.equal((await nobody.get(`/account/tokens?access_token=${token}`)).status, 303)
})

t.test('a person sees, makes and revokes tokens of their own and of nobody else', async (t) => {
  const service = shared
  const [user, other] = [await service.signUp({ email: ada.email }), await service.signUp()]
  const browser = await signedInVisitor(service, { userId: user.user_id })
  const make = (fields: Record<string, string>) =>
    browser.send('/account/tokens', { name: 'x', access: 'read_only', expires_in_days: '', ...fields })
  const refused: Record<string, string>[] = [
    { name: '' },
    { name: '  ' },
    { name: '\u{1F418}'.repeat(81) },
    { name: 'a\u0000b' },
    { access: 'admin' },
    { access: '' },
    { expires_in_days: '0' },
    { expires_in_days: '-1' },
    { expires_in_days: '1.5' },
    { expires_in_days: '99999' },
  ]
  for (const wrong of refused) {
    const { status, html } = await make(wrong)
    t.equal(status, 400, JSON.stringify(wrong))
    t.match(html, 'role="alert"')
  }
  const made = await make({ name: '\u{1F418}'.repeat(80), expires_in_days: '30' })
  t.match(made, { status: 201, headers: new Map([['cache-control', 'no-store']]) })
  const [, token = ''] = /<code class="secret"[^>]*>(svc_tok_\w+)<\/code>/.exec(made.html) ?? []
  const { body } = await new Client({ origin: service.origin, token }).get('/me')
  t.equal(body.data.scopes.length, 4, 'it only reads')
  t.equal(Math.round((body.data.expires_at - Date.now()) / 86_400_000), 30)

  t.equal((await browser.send(`/account/tokens/${other.token_id}/revoke`, {})).status, 404)
  t.equal((await other.get('/me')).status, 200)
  for (const id of ['tok_01ARZ3NDEKTSV4RRFFQ69G5FAV', 'x', '%00', '%E0%A4%A']) {
    t.equal((await browser.send(`/account/tokens/${id}/revoke`, {})).status, 404, id)
  }
  for (const _ of ['once', 'twice']) {
    const revoked = await browser.send(`/account/tokens/${user.token_id}/revoke`, {})
    t.match(revoked, { status: 303, location: '/account/tokens' })
  }
  t.match(await user.get('/me'), { status: 401, body: { error: { code: 'token_revoked' } } })
  const { html } = await browser.get('/account/tokens')
  for (const id of [user.token_id, other.token_id]) t.notMatch(html, id)

  await service.database.query(sql.unsafe`
    INSERT INTO tokens (id, user_id, name, secret_hash, scopes, created_at)
    SELECT 'tok_' || n, ${user.user_id}, 'number ' || n, '', '{}', now() - make_interval(mins => n)
    FROM generate_series(1, 150) AS n`)
  const first = await browser.get('/account/tokens')
  const [, next = ''] = /href="(\/account\/tokens\?after=[^"]+)"/.exec(first.html) ?? []
  const second = await browser.get(next)
  const namesIn = (page: string) => page.match(/<bdi>number \d+<\/bdi>/g) ?? []
  t.equal(new Set([...namesIn(first.html), ...namesIn(second.html)]).size, 150, 'all of them, each on one page')
  t.notMatch(second.html, '?after=')
  for (const after of [other.token_id, '', '%00', 'x']) {
    t.equal((await browser.get(`/account/tokens?after=${after}`)).status, 200, after)
  }
})

t.test('nobody collects tokens without end, however many are made at once', async (t) => {
  const service = await startTestService(t, { QUOTA_TOKENS: '4' })
  const user = await service.signUp({ email: ada.email })
  const browser = await signedInVisitor(service, { userId: user.user_id })
  const make = () => browser.send('/account/tokens', { name: 'mine', access: 'read_only', expires_in_days: '1' })
  const visits = await Promise.all(Array.from({ length: 6 }, make))
  t.same(visits.map(({ status }) => status).sort(), [201, 201, 201, 409, 409, 409], 'with the one that was there')
  const refused = visits.find(({ status }) => status === 409)
  t.match(refused?.html, 'You can have 4 tokens at a time.')
  t.match(refused?.html, 'value="mine"', 'what was filled in is still there')

  await service.database.query(sql.unsafe`
    UPDATE tokens SET expires_at = now() WHERE id = (SELECT max(id) FROM tokens WHERE expires_at IS NOT NULL)`)
  t.equal((await make()).status, 201, 'one that has expired does not count')
  t.equal((await make()).status, 409)
  await browser.send(`/account/tokens/${user.token_id}/revoke`, {})
  t.equal((await make()).status, 201, 'nor does one that was revoked')
  t.ok((await service.signUp({ email: ada.email })).token, 'the operator can always issue one')
})

t.test('names that attack are only shown', async (t) => {
  const service = shared
  const attack = '"><img src=x onerror=alert(1)>\'</title><script>alert(2)</script>{{7*7}}<%= 7 %>'
  const { user_id } = await bootstrap(
    { database: service.database, pepper: service.config.TOKEN_PEPPER },
    {
      email: `${attack.replaceAll(' ', '')}@x`,
      name: attack,
      password: null,
      workspace: attack,
      role: 'owner',
      scopes: [],
      expiresInDays: null,
    },
  )
  const browser = await signedInVisitor(service, { userId: user_id })
  const { user_code } = (
    await new Client({ origin: service.origin }).post('/auth/device/code', { client_name: attack.slice(0, 80) })
  ).body.data
  const created = await browser.send('/account/tokens', {
    name: attack.slice(0, 80),
    access: 'read_only',
    expires_in_days: '',
  })
  t.equal(created.status, 201)
  const pages = [
    created,
    await browser.get('/account/tokens'),
    await browser.send('/account/tokens', { name: attack, access: 'read_only', expires_in_days: '' }),
    await browser.get(`/device?user_code=${user_code}`),
    await browser.get(`/device?user_code=${encodeURIComponent(attack)}`),
    await browser.send('/device', { user_code, decision: attack }),
    await browser.send('/device', { user_code, decision: 'approve' }),
    await new Visitor(service.origin).signIn({ email: attack, password: attack }, `/${attack}`),
    await browser.get(`/account/${encodeURIComponent(attack)}`, { accept: 'text/html' }),
    await browser.get(`/assets/${encodeURIComponent(attack)}`),
  ]
  for (const { html } of pages) {
    t.notMatch(html, /<script|<img src=x|onerror=alert\(1\)>'/)
    t.match(html, '<!doctype html>')
  }
})

t.test('no page can be framed, scripted, stored or sniffed', async (t) => {
  const service = shared
  const { user_id } = await service.signUp({ email: ada.email })
  const browser = await signedInVisitor(service, { userId: user_id })
  const nobody = new Visitor(service.origin)
  const pages = [
    await nobody.get('/login'),
    await nobody.get('/account/tokens'),
    await browser.get('/account/tokens'),
    await browser.get('/device'),
    await browser.get('/nowhere', { accept: 'text/html' }),
    await browser.post('/account/tokens', {}),
  ]
  for (const { headers } of pages) {
    t.match(headers.get('content-security-policy'), "default-src 'none'")
    t.match(headers.get('content-security-policy'), "frame-ancestors 'none'")
    t.match(headers.get('content-security-policy'), "form-action 'self'")
    t.notMatch(headers.get('content-security-policy'), /script-src|unsafe/)
    t.equal(headers.get('x-frame-options'), 'DENY')
    t.equal(headers.get('x-content-type-options'), 'nosniff')
    t.equal(headers.get('cache-control'), 'no-store')
    t.equal(headers.get('referrer-policy'), 'no-referrer')
  }
})

t.test('pages answer every method, and errors for people are pages while those for programs stay JSON', async (t) => {
  const service = await startTestService(t)
  const { origin } = service
  const call = (method: string, path: string, accept = '*/*') =>
    fetch(origin + path, { method, redirect: 'manual', headers: { accept } })
  const head = await call('HEAD', '/login')
  t.equal(head.status, 200)
  t.equal(await head.text(), '')
  for (const [path, allow] of [
    ['/login', 'GET, HEAD, POST, OPTIONS'],
    ['/logout', 'POST, OPTIONS'],
    ['/account/tokens/x/revoke', 'POST, OPTIONS'],
  ] as const) {
    const options = await call('OPTIONS', path)
    t.match({ status: options.status, allow: options.headers.get('allow') }, { status: 204, allow })
    const wrong = await call('DELETE', path)
    t.match({ status: wrong.status, allow: wrong.headers.get('allow') }, { status: 405, allow })
    t.match(await wrong.text(), '<!doctype html>')
  }
  const browsed = await call('GET', '/nowhere', 'text/html,application/xhtml+xml,*/*;q=0.8')
  t.equal(browsed.status, 404)
  t.match(await browsed.text(), 'Page not found')
  for (const [path, accept] of [
    ['/nowhere', '*/*'],
    ['/api/v1/nowhere', 'text/html'],
    ['/api/v1/me', 'text/html'],
  ] as const) {
    const reply = await call('GET', path, accept)
    t.match(reply.headers.get('content-type'), 'application/json', path)
    t.match(await reply.json(), { error: { code: /^[a-z_]+$/ } })
  }
  const { user_id } = await service.signUp({ email: ada.email })
  const browser = await signedInVisitor(service, { userId: user_id })
  t.match(await browser.send('/account/tokens', { name: 'x'.repeat(20_000) }), {
    status: 413,
    html: 'Too much at once',
  })
  await service.database.query(sql.unsafe`ALTER TABLE tokens RENAME TO elsewhere`)
  const broken = await browser.get('/account/tokens')
  t.match(broken, { status: 500, html: 'Something went wrong' })
  t.match(broken.html, broken.headers.get('x-request-id'))
  t.notMatch(broken.html, /tokens t|relation|slonik/)
})

t.test('the stylesheet is kept by browsers for as long as it is the same', async (t) => {
  const { origin } = shared
  const visitor = new Visitor(origin)
  const { html } = await visitor.get('/login')
  const [, address = ''] = /<link rel="stylesheet" href="([^"]+)">/.exec(html) ?? []
  const sheet = await visitor.get(address)
  t.equal(sheet.status, 200)
  t.equal(sheet.headers.get('content-type'), 'text/css; charset=utf-8')
  t.equal(sheet.headers.get('cache-control'), 'public, max-age=31536000, immutable')
  t.equal((await visitor.get('/assets/pages.css?v=old')).headers.get('cache-control'), 'no-cache')
  for (const name of ['nothing.css', '..%2Fpages.ts', '__proto__'])
    t.equal((await visitor.get(`/assets/${name}`)).status, 404)
})

// The hash of this user is cheap to compute. Only the first test and unknown users cost as much as a real hash.
async function signUpAda(service: TestService) {
  const user = await service.signUp({ email: ada.email })
  const key = scryptSync(ada.password, 'salt', 32, { N: 16, r: 8, p: 1 }).toString('base64url')
  const hash = `scrypt$16$${Buffer.from('salt').toString('base64url')}$${key}`
  await service.database.query(sql.unsafe`UPDATE users SET password_hash = ${hash} WHERE id = ${user.user_id}`)
  return user
}

t.test('the operator gives a password that nobody sees in the list of processes', async (t) => {
  const service = await startTestService(t)
  const run = async (words: string[], input: string) => {
    const env = { ...process.env, DATABASE_URL: service.url, DATA_DIR: service.config.DATA_DIR, LOG_LEVEL: 'silent' }
    // The command computes hashes at the price at which this process checks them.
    const command = ['--require', './test/support/preload.ts', 'shared/auth/bootstrap-command.ts', ...words]
    const child = spawn(process.execPath, command, { cwd: root, env })
    child.stdin.end(input)
    const [output, problems] = await Promise.all([consumed(child.stdout), consumed(child.stderr)])
    return { output, problems }
  }
  const words = ['--email', ada.email, '--password-stdin']
  const { output } = await run(words, `${ada.password}\n`)
  t.match(JSON.parse(output), { email: ada.email })
  const hash = await service.database.oneFirst(sql.unsafe`SELECT password_hash FROM users WHERE email = ${ada.email}`)
  t.match(hash, /^scrypt\$131072\$/, 'the hash is made at the price that OWASP recommends')
  t.equal((await new Visitor(service.origin).signIn(ada)).status, 303)
  for (const empty of ['', '\n']) {
    t.match(await run(words, empty), { output: '', problems: '--password-stdin found no password' })
  }
  const both = await run([...words, '--password', 'x'], ada.password)
  t.match(both, { output: '', problems: '--password and --password-stdin exclude each other' })
  t.equal((await new Visitor(service.origin).signIn(ada)).status, 303, 'a refused command changes nothing')
})

t.test('who sends a form after the session has ended comes back to the page of the form', async (t) => {
  const { status, location } = await new Visitor(shared.origin).post('/d/doc_1/summary', {})
  t.strictSame([status, location], [303, '/login?next=%2Fd%2Fdoc_1%2Fsummary'])
})
