import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sql } from 'slonik'
import { createOpenIdProvider } from '../../shared/auth/openid-provider.ts'
import { readConfig } from '../../shared/config/config.ts'
import { openIdClient, startIssuer } from '../support/openid-issuer.ts'
import { sharedService, startTestService } from '../support/service.ts'
import { type Test, t } from '../support/tap.ts'
import { Visitor } from '../support/visitor.ts'

const callback = 'http://localhost:3000/login/openid/callback'

t.test('people sign in at their organisation, into the account of their verified address', async (t) => {
  const { service, issuer, visit } = await startBoth(t)
  const { user_id } = await service.signUp({ email: 'Ada@example.test' })
  const browser = new Visitor(service.origin)
  t.match((await browser.get('/login')).html, 'href="/login/openid?next=%2F"')
  issuer.person = { sub: 'ada-1', email: 'ada@EXAMPLE.test', email_verified: true }
  const begun = await browser.get('/login/openid?next=/device')
  t.equal(begun.status, 303)
  const asked = new URL(begun.location ?? '').searchParams
  t.match(Object.fromEntries(asked), {
    client_id: openIdClient.id,
    redirect_uri: callback,
    response_type: 'code',
    code_challenge_method: 'S256',
    state: /.{43}/,
    nonce: /.{43}/,
  })
  const back = await issuer.signIn(begun.location ?? '')
  t.match(await browser.get(back), { status: 303, location: '/device' })
  t.match((await browser.get('/account/tokens')).html, 'Signed in as <bdi>Ada@example.test</bdi>')
  t.notMatch((await browser.get('/login/openid?next=//evil.example')).location, 'evil')

  issuer.person = { sub: 'ada-1', email: 'ada.lovelace@example.test', email_verified: false }
  t.match((await visit()).status, 303, 'from now on the subject counts, whatever becomes of the address')
  issuer.person = { sub: 'ada-2', email: 'ada@example.test', email_verified: true }
  t.match(await visit(), { status: 403, html: 'No account here' }, 'an address that was given to somebody else')
  const identities = await service.database.any(sql.unsafe`SELECT subject, user_id FROM user_identities`)
  t.same(identities, [{ subject: 'ada-1', user_id }])
})

t.test('whom nobody has invited gets a clear answer and nothing else', async (t) => {
  const { service, issuer, visit } = await startBoth(t)
  await service.signUp({ email: 'ada@example.test' })
  const counts = () =>
    service.database.one(sql.unsafe`
      SELECT (SELECT count(*) FROM users) AS users, (SELECT count(*) FROM sessions) AS sessions,
        (SELECT count(*) FROM user_identities) AS identities, (SELECT count(*) FROM memberships) AS memberships`)
  const before = await counts()
  const strangers = [
    { sub: 's1', email: '<b>x</b>@example.test', email_verified: true },
    { sub: 's2', email: 'ada@example.test', email_verified: false },
    { sub: 's3', email: 'ada@example.test' },
    { sub: 's4' },
  ]
  for (const person of strangers) {
    issuer.person = person
    const { status, html } = await visit()
    t.equal(status, 403, person.sub)
    t.match(html, 'No account here')
    t.notMatch(html, '<b>x</b>')
  }
  issuer.person = null
  t.match(await visit(), { status: 400, html: 'You are not signed in' }, 'who cancels is told so')
  t.same(await counts(), before)
})

t.test('what comes back must fit what this browser has begun', async (t) => {
  const { service, issuer } = await startBoth(t)
  await service.signUp({ email: 'ada@example.test' })
  await service.signUp({ email: 'mallory@example.test' })
  const begin = async (sub: string) => {
    const browser = new Visitor(service.origin)
    const { location } = await browser.get('/login/openid')
    issuer.person = { sub, email: `${sub}@example.test`, email_verified: true }
    return { browser, back: await issuer.signIn(location ?? '') }
  }
  const [ada, mallory] = [await begin('ada'), await begin('mallory')]
  const state = new URL(ada.back, service.origin).searchParams.get('state') ?? ''
  const injected = new URL(mallory.back, service.origin)
  injected.searchParams.set('state', state)
  const attempts = [
    { browser: new Visitor(service.origin), back: ada.back, why: 'in a browser that has begun nothing' },
    { browser: ada.browser, back: mallory.back, why: 'the answer to somebody else' },
  ]
  for (const { browser, back, why } of attempts) {
    t.match(await browser.get(back), { status: 400, html: 'You are not signed in' }, why)
    t.equal((await browser.get('/account/tokens')).status, 303)
  }
  const victim = await begin('ada')
  const ownState = new URL(victim.back, service.origin).searchParams.get('state') ?? ''
  injected.searchParams.set('state', ownState)
  t.equal((await victim.browser.get(injected.pathname + injected.search)).status, 400, 'a code of another sign-in')
  const again = await begin('ada')
  t.equal((await again.browser.get(again.back)).status, 303)
  await again.browser.post('/logout', {})
  t.equal((await again.browser.get(again.back)).status, 400, 'a second time')
  for (const search of ['', '?code=x', `?code=x&state=${ownState}`, '?error=server_error', '?state=%00']) {
    const { browser } = await begin('ada')
    t.equal((await browser.get(`/login/openid/callback${search}`)).status, 400, search)
  }
})

t.test('sign-ins in several tabs do not undo each other, and a reload is no failure', async (t) => {
  const { service, issuer } = await startBoth(t)
  await service.signUp({ email: 'ada@example.test' })
  issuer.person = { sub: 'ada', email: 'ada@example.test', email_verified: true }
  const browser = new Visitor(service.origin)
  const begun = [await browser.get('/login/openid?next=/device'), await browser.get('/login/openid?next=/d/a|b')]
  const [first = '', second = ''] = [
    await issuer.signIn(begun[0]?.location ?? ''),
    await issuer.signIn(begun[1]?.location ?? ''),
  ]
  t.match(await browser.get(first), { status: 303, location: '/device' })
  t.match(await browser.get(first), { status: 303, location: '/' }, 'reloaded')
  t.equal((await browser.get(second)).status, 303)
  t.match((await browser.get('/account/tokens')).html, 'Signed in as <bdi>ada@example.test</bdi>')
  for (let tab = 0; tab < 20; tab += 1) await browser.get(`/login/openid?next=/${'x'.repeat(900)}`)
  const last = await issuer.signIn((await browser.get('/login/openid?next=/device')).location ?? '')
  t.match(await browser.get(last), { status: 303, location: '/device' }, 'nor do many fill the cookie')
})

t.test('a provider that is set up wrongly is no cancelled sign-in', async (t) => {
  const server = createServer((_, response) => void answer(response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  let answer = (response: ServerResponse) => {
    response.writeHead(404).end()
  }
  const service = await startTestService(t, { OIDC_ISSUER: `${origin}/acme`, OIDC_CLIENT_ID: openIdClient.id })
  const metadata = (issuer: string) => (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ issuer }))
  }
  const answers = [answer, metadata(`${origin}/acme/`), metadata('https://other.test'), metadata('no address')]
  for (const [index, next] of answers.entries()) {
    answer = next
    const page = await new Visitor(service.origin).get('/login/openid')
    t.match(page, { status: 503, html: 'Sign-in is set up incorrectly' }, `${index}`)
  }
})

t.test('the log names the issuer that was set and the one that answered', async (t) => {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ issuer: 'https://b.test/' }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const OIDC_ISSUER = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const config = readConfig({ OIDC_ISSUER, OIDC_CLIENT_ID: openIdClient.id, DATA_DIR: t.testdir() })
  const begun = createOpenIdProvider(config).begin({ state: 's', nonce: 'n', verifier: 'v' })
  const facts = { issuer: OIDC_ISSUER, provider_issuer: 'https://b.test/' }
  const error = await begun.catch((reason: unknown) => reason)
  t.match(error, { reason: 'misconfigured', facts })
})

t.test('while the organisation does not answer, people are told and passwords go on working', async (t) => {
  const { service, issuer } = await startBoth(t)
  await service.signUp({ email: 'ada@example.test', password: 'correct horse' })
  issuer.stop()
  const browser = new Visitor(service.origin)
  t.match(await browser.get('/login/openid'), { status: 503, html: 'cannot be reached' })
  t.equal((await browser.signIn({ email: 'ada@example.test', password: 'correct horse' })).status, 303)
})

t.test('without a provider there is no trace of one', async (t) => {
  const { origin } = await sharedService()
  const browser = new Visitor(origin)
  t.notMatch((await browser.get('/login')).html, 'openid')
  for (const path of ['/login/openid', '/login/openid/callback?code=x']) t.equal((await browser.get(path)).status, 404)
})

async function startBoth(t: Test) {
  const issuer = await startIssuer(t, callback)
  const service = await startTestService(t, {
    OIDC_ISSUER: issuer.origin,
    OIDC_CLIENT_ID: openIdClient.id,
    OIDC_CLIENT_SECRET: openIdClient.secret,
  })

  /** Signs the issuer's person in with a new browser. */
  async function visit() {
    const browser = new Visitor(service.origin)
    const { location } = await browser.get('/login/openid')
    return browser.get(await issuer.signIn(location ?? ''))
  }

  return { service, issuer, visit }
}
