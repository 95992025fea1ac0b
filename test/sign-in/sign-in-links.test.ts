import { sql } from 'slonik'
import { deleteExpiredSignIns, sessionLimits } from '../../shared/auth/sessions.ts'
import { createSignInLink } from '../../shared/auth/sign-in-links.ts'
import { startApi, startProcess } from '../support/processes.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { t } from '../support/tap.ts'
import { hiddenFields, signedInVisitor, Visitor } from '../support/visitor.ts'

const service = await startTestService(t)
const { database } = service

t.test('a link signs its user in once, and opening it uses nothing up', async (t) => {
  const ada = await service.signUp({ email: 'ada@example.test' })
  const { sign_in_link, expires_at } = await linkOf('ADA@example.test')
  t.match(sign_in_link, /^http:\/\/localhost:3000\/login\/link#[A-Za-z0-9]{43}$/)
  t.ok(expires_at > Date.now())
  const browser = new Visitor(service.origin)
  for (const _ of ['a program that looks at links', 'the person']) {
    const opened = await browser.get('/login/link')
    t.match(opened, { status: 200, html: '<h1 id="heading">Sign in with a link</h1>' })
    t.match(opened.headers.get('content-security-policy'), "script-src 'self'")
  }
  const anonymous = browser.cookies.get('svc_session')
  const signedIn = await submit(browser, sign_in_link)
  t.match(signedIn, { status: 303, location: '/' })
  t.not(browser.cookies.get('svc_session'), anonymous, 'under a fresh id')
  t.match((await browser.get('/account/tokens')).html, 'Signed in as <bdi>ada@example.test</bdi>')
  t.match((await browser.get('/account/tokens')).html, ada.token_id, 'and nobody else')

  const second = new Visitor(service.origin)
  t.match(await submit(second, sign_in_link), { status: 401, html: 'This link does not work' })
  t.equal((await second.get('/account/tokens')).status, 303)
})

t.test('of two browsers that use a link at once, one is signed in', async (t) => {
  await service.signUp({ email: 'race@example.test' })
  const { sign_in_link } = await linkOf('race@example.test')
  const browsers = Array.from({ length: 6 }, () => new Visitor(service.origin))
  const visits = await Promise.all(browsers.map((browser) => submit(browser, sign_in_link)))
  t.strictSame(visits.map(({ status }) => status).sort(), [303, 401, 401, 401, 401, 401])
  const inside = await Promise.all(browsers.map((browser) => browser.get('/account/tokens')))
  t.equal(inside.filter(({ status }) => status === 200).length, 1)
})

t.test('the code alone works as well, for a person whose browser runs no scripts', async (t) => {
  await service.signUp({ email: 'code@example.test' })
  const { sign_in_link } = await linkOf('code@example.test')
  t.match(await submit(new Visitor(service.origin), ` ${sign_in_link.split('#')[1]}\n`), { status: 303 })
})

t.test('a link that expired, was made up, or whose user is gone opens nothing', async (t) => {
  await service.signUp({ email: 'late@example.test' })
  const late = await linkOf('late@example.test')
  await database.query(sql.unsafe`UPDATE sign_in_links SET expires_at = now()`)
  const gone = await service.signUp({ email: 'gone@example.test' })
  const ofGone = await linkOf('gone@example.test')
  await database.query(sql.unsafe`DELETE FROM users WHERE id = ${gone.user_id}`)
  const made = ['', 'x', `#${'A'.repeat(43)}`, 'A'.repeat(44), '#'.repeat(4000), "' OR 1=1 --", '\u0000']
  for (const link of [late.sign_in_link, ofGone.sign_in_link, ...made]) {
    const browser = new Visitor(service.origin)
    t.match(await submit(browser, link), { status: 401, html: 'This link does not work' }, link)
    t.equal((await browser.get('/account/tokens')).status, 303)
  }
  t.equal(await createSignInLink({ db: database, config: service.config }, 'gone@example.test'), null)
})

t.test('a new password ends the links of an account, and expired links are forgotten', async (t) => {
  const email = 'new@example.test'
  await service.signUp({ email })
  const old = await linkOf(email)
  await service.signUp({ email, password: 'another password' })
  t.equal((await submit(new Visitor(service.origin), old.sign_in_link)).status, 401)
  await database.query(sql.unsafe`DELETE FROM sign_in_links`)
  await linkOf(email)
  await database.query(sql.unsafe`UPDATE sign_in_links SET expires_at = now() - interval '1 second'`)
  const kept = await linkOf(email)
  t.equal(await deleteExpiredSignIns(database, { session: sessionLimits, batch: 10 }), 1)
  t.equal((await submit(new Visitor(service.origin), kept.sign_in_link)).status, 303)
})

t.test('no other site can sign a browser in or out of an account by a link', async (t) => {
  const { user_id } = await service.signUp({ email: 'victim@example.test' })
  await service.signUp({ email: 'attacker@example.test' })
  const { sign_in_link } = await linkOf('attacker@example.test')
  const victim = await signedInVisitor(service, { userId: user_id })
  t.equal((await victim.post('/login/link', { code: sign_in_link })).status, 403)
  t.equal((await new Visitor(service.origin).post('/login/link', { code: sign_in_link })).status, 403)
  t.match((await victim.get('/login/link')).html, 'You are signed in as <bdi>victim@example.test</bdi>')
  t.match((await victim.get('/account/tokens')).html, 'Signed in as <bdi>victim@example.test</bdi>')
  const before = victim.cookies.get('svc_session') ?? ''
  t.equal((await submit(victim, sign_in_link)).status, 303)
  t.match((await victim.get('/account/tokens')).html, 'Signed in as <bdi>attacker@example.test</bdi>')
  victim.cookies.set('svc_session', before)
  t.equal((await victim.get('/account/tokens')).status, 303, 'the earlier session has ended')
})

t.test('codes cannot be tried without end', async (t) => {
  const guarded = await startTestService(t)
  await guarded.signUp({ email: 'ada@example.test' })
  const { sign_in_link } = await linkOf('ada@example.test', guarded)
  const browser = new Visitor(guarded.origin)
  const form = hiddenFields((await browser.get('/login/link')).html, '/login/link')
  const guesses = await Promise.all(
    Array.from({ length: 105 }, () => browser.post('/login/link', { ...form, code: 'x' })),
  )
  t.equal(guesses.filter(({ status }) => status === 401).length, 100)
  const limited = await submit(browser, sign_in_link)
  t.match(limited, { status: 429, html: 'Too many attempts' })
  t.ok(limited.headers.get('retry-after'))
})

t.test('the operator makes a link, and neither the log nor a copy of the database lets anybody in by it', async (t) => {
  await service.signUp({ email: 'log@example.test' })
  const env = { DATABASE_URL: service.url, DATA_DIR: service.config.DATA_DIR, LOG_LEVEL: 'debug' }
  const words = (email: string) => ['--sign-in-link', email]
  const command = startProcess('shared/auth/bootstrap-command.ts', { words: words('log@example.test'), env })
  t.equal(await command.ended, 0)
  const { email, sign_in_link } = JSON.parse(command.output())
  t.equal(email, 'log@example.test')
  const code = sign_in_link.split('#')[1]
  const rows = JSON.stringify(await database.any(sql.unsafe`SELECT l::text AS l FROM sign_in_links l`))
  t.notMatch(rows, code)
  t.notMatch(rows, Buffer.from(code).toString('hex'))

  const api = await startApi(env)
  t.teardown(api.stop)
  for (const status of [303, 401]) t.equal((await submit(new Visitor(api.origin), sign_in_link)).status, status)
  await until(async () => api.output().includes('sign-in link refused'))
  t.notMatch(api.output(), code)
  const nobody = startProcess('shared/auth/bootstrap-command.ts', { words: words('nobody@example.test'), env })
  t.equal(await nobody.ended, 1)
  t.match(nobody.output(), 'nobody has the email nobody@example.test')
})

async function linkOf(email: string, { database: db, config }: TestService = service) {
  const link = await createSignInLink({ db, config }, email)
  if (link === null) throw new Error(`nobody has the email ${email}`)
  return link
}

function submit(browser: Visitor, code: string) {
  return browser.submit({ page: '/login/link', fields: { code } })
}
