import { scopes } from '../../../shared/auth/scopes.ts'
import { Client } from '../../support/client.ts'
import { newProof, OAuthProgram } from '../../support/oauth-program.ts'
import { startTestService } from '../../support/service.ts'
import { t } from '../../support/tap.ts'
import { hiddenFields, signedInVisitor, Visitor } from '../../support/visitor.ts'

t.test('requests', async (t) => {
  const service = await startTestService(t, { QUOTA_TOKENS: '10' })
  const { PUBLIC_ORIGIN: issuer } = service.config
  const ada = await service.signUp({ email: 'ada@example.test', password: 'correct horse' })
  const browser = await signedInVisitor(service, { userId: ada.user_id })
  const program = await OAuthProgram.register(service)
  const { challenge } = newProof()
  // Only a program that the person has let in gets errors without a decision.
  await program.connect(browser)

  /** The answer that the program gets through the browser without a person being asked. */
  async function sentBack(parameters: Record<string, string | null>): Promise<Record<string, string>> {
    const { location } = await browser.get(program.authorizePath({ code_challenge: challenge, ...parameters }))
    const back = new URL(location ?? 'x:')
    t.equal(back.origin + back.pathname, program.redirectUri)
    return Object.fromEntries([...back.searchParams, ...new URLSearchParams(back.hash.slice(1))])
  }

  t.test('a person who is not signed in comes back to the decision after signing in', async (t) => {
    const stranger = new Visitor(service.origin)
    const begun = await stranger.get(program.authorizePath({ code_challenge: challenge }))
    t.match(begun, { status: 303, location: /^\/oauth\/consent\// })
    const { location } = await stranger.get(begun.location ?? '')
    t.equal(location, `/login?next=${encodeURIComponent(begun.location ?? '')}`)
    const signedIn = await stranger.signIn(
      { email: 'ada@example.test', password: 'correct horse' },
      new URLSearchParams(location?.split('?')[1]).get('next') ?? '',
    )
    t.equal(signedIn.location, begun.location)
    t.match(await stranger.get(begun.location ?? ''), { status: 200, html: 'Approve, but read only' })
  })

  t.test('a code that somebody overhears is worth nothing, because no code is given without S256', async (t) => {
    const without = { code_challenge: null, code_challenge_method: null }
    t.match(await sentBack(without), { error: 'invalid_request', iss: issuer, state: 'a state' })
    t.match(await sentBack({ code_challenge_method: 'plain' }), { error: 'invalid_request' })
    t.match(await sentBack({ code_challenge_method: null }), { error: 'invalid_request' })
    t.match(await sentBack({ code_challenge: 'short' }), { error: 'invalid_request' })
  })

  t.test('a program that asks for a page with a script is told that the service has none', async (t) => {
    const answer = await sentBack({ response_mode: 'form_post' })
    t.match(answer, { error: 'unsupported_response_mode', state: 'a state' })
  })

  t.test('no access token gets into an address, and no password to a program', async (t) => {
    for (const response_type of ['token', 'id_token', 'code token', 'none']) {
      const answer = await sentBack({ response_type })
      t.match(answer, { error: /^(unsupported_response_type|invalid_request)$/ }, response_type)
      t.notHas(answer, 'access_token')
    }
    for (const grant_type of [
      'password',
      'client_credentials',
      'implicit',
      'urn:ietf:params:oauth:grant-type:jwt-bearer',
    ]) {
      const asked = { grant_type, username: 'ada@example.test', password: 'correct horse' }
      t.match(await program.token(asked), { status: 400, body: { error: 'unsupported_grant_type' } }, grant_type)
    }
  })

  t.test('a code goes to no other address than the one that was registered', async (t) => {
    const { redirectUri } = program
    const tricks = [
      `${redirectUri}/more`,
      `${redirectUri}?more=1`,
      `${redirectUri}#fragment`,
      `${redirectUri}/../other`,
      redirectUri.toUpperCase(),
      'https://agent.example.test',
      'https://agent.example.test/callback%2f..%2fopen',
      'https://agent.example.test@evil.test/callback',
      'https://evil.test@agent.example.test/callback',
      'https://agent.example.test.evil.test/callback',
      'https://agent.example.test:444/callback',
      'http://agent.example.test/callback',
      '//agent.example.test/callback',
      'javascript:alert(1)',
      `${issuer}/login?next=//evil.test`,
    ]
    for (const redirect_uri of [...tricks, null]) {
      const shown = await browser.get(program.authorizePath({ code_challenge: challenge, redirect_uri }))
      t.match({ ...shown, location: shown.location ?? 'none' }, { status: 400, location: 'none' }, String(redirect_uri))
      t.match(shown.html, 'This program cannot be connected')
    }
  })

  t.test('a link to the service never leads to the address of a stranger', async (t) => {
    const redirectUri = 'https://phish.example.test/login'
    const stranger = await OAuthProgram.register(service, { redirect_uris: [redirectUri] })
    const eve = await signedInVisitor(service, { userId: (await service.signUp()).user_id })
    await stranger.connect(eve)
    const mistakes: Record<string, string | null>[] = [
      { prompt: 'none' },
      { code_challenge: null },
      { scope: 'nonsense' },
      { resource: 'https://other.test' },
      { response_type: 'token' },
      { response_mode: 'form_post', prompt: 'none' },
      { request: 'x' },
    ]
    for (const mistake of mistakes) {
      const path = stranger.authorizePath({ code_challenge: challenge, ...mistake })
      for (const visitor of [browser, new Visitor(service.origin)]) {
        const { status, location, html } = await visitor.get(path)
        const name = JSON.stringify(mistake)
        t.match({ status, location: location ?? 'none', html }, { status: 400, location: 'none' }, name)
        t.match(html, 'This program cannot be connected', name)
        t.notMatch(html, redirectUri, name)
      }
    }
    const own = await eve.get(stranger.authorizePath({ code_challenge: challenge, prompt: 'none' }))
    t.match(own.location, `${redirectUri}?error=consent_required`, 'whoever has let it in is sent back')
  })

  t.test('a person sees which kind of links an app opens, and its code needs the proof', async (t) => {
    const app = await OAuthProgram.register(service, { redirect_uris: ['cursor://app/cb'] })
    const person = await signedInVisitor(service, { userId: (await service.signUp()).user_id })
    t.match((await app.begin(person)).html, '<bdi>cursor://</bdi>')
    const without = await person.get(app.authorizePath({ code_challenge: null, code_challenge_method: null }))
    t.match({ ...without, location: without.location ?? 'none' }, { status: 400, location: 'none' })
    await app.connect(person)
    const back = await app.authorize(person, { parameters: { code_challenge: challenge } })
    t.match(back.href, 'cursor://app/cb?code=')
    const stolen = await app.exchange(back.searchParams.get('code') ?? '')
    t.match(stolen, { status: 400, body: { error: 'invalid_grant' } })
  })

  t.test('a program on a computer gets its code at any port of that computer, and nowhere else', async (t) => {
    const local = await OAuthProgram.register(service, {
      redirect_uris: ['http://127.0.0.1/cb', 'http://localhost:1/cb', 'http://[::1]/cb', 'com.example.app:/cb'],
    })
    const good = ['http://127.0.0.1:5123/cb', 'http://localhost:5123/cb', 'http://[::1]:5123/cb', 'com.example.app:/cb']
    for (const redirect_uri of good) t.equal((await local.begin(browser, { redirect_uri })).status, 200, redirect_uri)
    const bad = [
      ...['http://127.0.0.1:5123/other', 'https://127.0.0.1:5123/cb', 'http://127.0.0.2:5123/cb'],
      ...['http://127.1:5123/cb', 'http://2130706433:5123/cb', 'http://127.0.0.1.evil.test/cb'],
      ...['http://localhost.evil.test/cb', 'http://127.0.0.1:80@evil.test/cb', 'http://evil.test/cb'],
      ...['com.example.app:/other', 'com.example.apps:/cb'],
    ]
    for (const redirect_uri of bad) {
      const { status, path } = await local.begin(browser, { redirect_uri })
      t.match({ status, path }, { status: 400, path: '' }, redirect_uri)
    }
  })

  t.test('a program that talks to two servers is told which of them has answered', async (t) => {
    const parameters = { code_challenge: challenge }
    t.equal((await program.authorize(browser, { parameters })).searchParams.get('iss'), issuer)
    const denied = await program.authorize(browser, { parameters, decision: 'deny' })
    t.strictSame(Object.fromEntries(denied.searchParams), {
      error: 'access_denied',
      error_description: 'the person has refused',
      state: 'a state',
      iss: issuer,
    })
  })

  t.test('a person approves only by the page that they see', async (t) => {
    const { path, html, headers } = await program.begin(browser)
    t.equal(headers.get('x-frame-options'), 'DENY', 'no other page can lay itself over it')
    t.match(headers.get('content-security-policy'), "frame-ancestors 'none'")
    t.equal(headers.get('referrer-policy'), 'no-referrer')
    const fields = { ...hiddenFields(html, path), decision: 'approve' }
    const forged = [
      { ...fields, csrf_token: '' },
      { ...fields, csrf_token: 'x'.repeat(43) },
    ]
    for (const form of forged) t.equal((await browser.post(path, form)).status, 403)
    t.equal((await browser.post(path, fields, { 'sec-fetch-site': 'cross-site' })).status, 403)
    t.equal((await browser.post(path, { ...fields, decision: 'yes' })).status, 400)
    const undecided = await browser.get(path.replace('consent', 'authorize'))
    t.match(undecided, { status: 303, location: /^\/oauth\/consent\// }, 'the person is asked again')
  })

  t.test('the request of one browser is decided in no other, so nobody approves for somebody else', async (t) => {
    const eve = await signedInVisitor(service, { userId: (await service.signUp()).user_id })
    const { path, html } = await program.begin(browser)
    t.match(await eve.get(path), { status: 400, html: 'Please start again' })
    const fields = { ...hiddenFields(html, path), decision: 'approve' }
    t.equal((await eve.post(path, fields)).status, 403, 'the form is of another session')
    const decided = await browser.post(path, fields)
    t.equal((await eve.get(decided.location ?? '')).status, 400)
    const further = await Promise.all(Array.from({ length: 4 }, () => browser.get(decided.location ?? '')))
    const codes = further.filter(({ location }) => location?.includes('code=') === true)
    t.equal(codes.length, 1, 'the browser itself goes on, once')
    t.equal((await browser.post(path, fields)).status, 400, 'a decision is final')
  })

  t.test('a program gets no more than was approved, and nothing that does not exist', async (t) => {
    const readOnly = scopes.filter((scope) => scope.endsWith(':read'))
    const reading = await program.connect(browser, { decision: 'approve_read_only' })
    t.equal(reading.scope, readOnly.join(' '))
    const agent = new Client({ origin: service.origin, token: reading.access_token })
    t.match(await agent.post('/knowledge-bases', { name: 'No' }), {
      status: 403,
      body: { error: { code: 'insufficient_scope' } },
    })
    const few = await program.connect(browser, { parameters: { scope: 'openid documents:read admin' } })
    t.equal(few.scope, 'documents:read')
    t.match(await sentBack({ scope: 'openid admin' }), { error: 'invalid_scope' })
    const narrow = await OAuthProgram.register(service, { scope: 'documents:read concepts:read' })
    t.equal((await narrow.connect(browser, {})).scope, 'documents:read concepts:read')
    const all = { parameters: { scope: scopes.join(' ') } }
    t.equal((await narrow.connect(browser, all)).scope, 'documents:read concepts:read', 'no more than it registered')
    t.match(await sentBack({ prompt: 'none' }), { error: 'consent_required' })
    const writing = await program.begin(browser, { scope: 'documents:write' })
    t.notMatch(writing.html, 'approve_read_only')
    const reader = await program.begin(browser, { scope: 'documents:read' })
    t.notMatch(reader.html, 'approve_read_only', 'who asks for reading alone is not offered it twice')
  })

  t.test('a token is for nothing but what the program has named', async (t) => {
    for (const resource of ['https://other.test', `${issuer}/other`, `${issuer}#x`, 'nonsense']) {
      t.match(await sentBack({ resource }), { error: 'invalid_target' }, resource)
    }
    const several = `${program.authorizePath({ code_challenge: challenge, resource: issuer })}&resource=${issuer}/mcp`
    t.match((await browser.get(several)).location, 'error=invalid_target')
    const forTools = await program.connect(browser, { parameters: { resource: `${issuer}/mcp` } })
    const refused = await new Client({ origin: service.origin, token: forTools.access_token }).get('/me')
    t.match(refused, { status: 401, body: { error: { code: 'invalid_token' } } })
    const slashed = await program.connect(browser, { parameters: { resource: `${issuer}/api/v1/` } })
    t.equal((await new Client({ origin: service.origin, token: slashed.access_token }).get('/me')).status, 200)
  })

  t.test('a program whose library prefers HTML learns why it was refused, too', async (t) => {
    const form = 'application/x-www-form-urlencoded'
    for (const accept of ['text/html', 'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2']) {
      for (const [path, type, body, error] of [
        ['token', form, `grant_type=refresh_token&refresh_token=x&client_id=${program.clientId}`, 'invalid_grant'],
        ['token', form, 'grant_type=refresh_token&refresh_token=x&client_id=nobody', 'invalid_client'],
        ['revoke', form, `client_id=${program.clientId}`, 'invalid_request'],
        ['register', 'application/json', '{"redirect_uris":[]}', 'invalid_redirect_uri'],
      ] as const) {
        const headers = { accept, 'content-type': type }
        const answer = await fetch(`${service.origin}/oauth/${path}`, { method: 'POST', headers, body })
        t.ok(answer.status >= 400 && answer.status < 500, `${path} is refused with ${answer.status}`)
        t.equal(((await answer.json()) as { error: string }).error, error)
      }
    }
  })

  t.test('whatever is sent, the service answers and goes on', async (t) => {
    const bad = ['?', '?client_id=%00', '?client_id=a&client_id=b', '?client_id=svc', `?client_id=${'x'.repeat(5000)}`]
    for (const query of bad) t.equal((await browser.get(`/oauth/authorize${query}`)).status, 400, query.slice(0, 30))
    const odd = await program.begin(browser, { state: '\u0000\ud800\u202e"><script>', scope: 'documents:read \u0000' })
    t.ok([200, 303].includes(odd.status), String(odd.status))
    t.equal((await browser.get('/oauth/authorize/unknown')).status, 400)
    t.equal((await browser.get('/oauth/consent/unknown')).status, 400)
    t.equal((await browser.post('/oauth/authorize', {})).status, 405)
  })

  t.test('no more programs are connected than tokens are allowed, however often tokens are renewed', async (t) => {
    for (let connected = 0; ; connected += 1) {
      const { path, html } = await program.begin(browser)
      const fields = { ...hiddenFields(html, path), decision: 'approve' }
      const { status, html: told } = await browser.post(path, fields)
      if (status === 303 && connected < 8) continue
      t.match({ status, told }, { status: 409, told: 'You can have 10 tokens' })
      t.equal((await browser.post(path, { ...fields, decision: 'deny' })).status, 303, 'refusing needs no room')
      return
    }
  })
})
