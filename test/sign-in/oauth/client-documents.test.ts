import type { RequestListener } from 'node:http'
import { sql } from 'slonik'
import { fetchPublic, PrivateAddressError } from '../../../shared/network/public-fetch.ts'
import { newProof, OAuthProgram } from '../../support/oauth-program.ts'
import { startTestService } from '../../support/service.ts'
import { t } from '../../support/tap.ts'
import { startTlsServer } from '../../support/tls-server.ts'
import { hiddenFields, signedInVisitor } from '../../support/visitor.ts'

const redirectUri = 'https://agent.example.test/callback'

t.test('a program that publishes its metadata needs no registration', async (t) => {
  const asked: string[] = []
  const port = await startTlsServer(t, (request, response) => {
    asked.push(request.url ?? '')
    return publish(request, response)
  })
  const address = (path: string) => `https://localhost:${port}${path}`
  const publish: RequestListener = (request, response) => {
    const documents: Record<string, object | string> = {
      '/agent.json': {
        client_id: address('/agent.json'),
        client_name: 'Agent',
        redirect_uris: [redirectUri],
        scope: 'documents:read',
      },
      '/other.json': { client_id: address('/agent.json'), client_name: 'Thief', redirect_uris: [redirectUri] },
      '/secret.json': { client_id: address('/secret.json'), client_secret: 'x', redirect_uris: [redirectUri] },
      '/http.json': { client_id: address('/http.json'), redirect_uris: ['http://agent.example.test/'] },
      '/large.json': { client_id: address('/large.json'), redirect_uris: [redirectUri], x: 'x'.repeat(6000) },
      '/text.json': 'no JSON',
    }
    const document = documents[request.url ?? '']
    if (request.url === '/slow.json' || request.url === '/broken.json') {
      response.writeHead(200).write('{')
      if (request.url === '/broken.json') setTimeout(() => response.socket?.destroy(new Error('broken')), 100)
      return
    }
    if (request.url === '/moved.json') response.writeHead(302, { location: '/agent.json' })
    else if (document === undefined) response.writeHead(404)
    else response.writeHead(200, { 'content-type': 'application/json' })
    response.end(typeof document === 'string' ? document : JSON.stringify(document))
  }
  const service = await startTestService(t, { OAUTH_ALLOW_PRIVATE: 'true' })
  const { user_id: userId } = await service.signUp()
  const browser = await signedInVisitor(service, { userId })
  const of = (path: string) => new OAuthProgram({ origin: service.origin, clientId: address(path), redirectUri })

  const agent = of('/agent.json')
  const shown = await agent.begin(browser)
  t.match(shown.html, '“<bdi>Agent</bdi>”')
  t.match(shown.html, /Published by<\/dt><dd><bdi>localhost</, 'the host that vouches for the name')
  const tokens = await agent.connect(browser)
  t.equal((await agent.refresh(tokens.refresh_token)).status, 200)
  t.same(asked, ['/agent.json'], 'the document is not fetched again and again')
  const back = await agent.begin(browser, { redirect_uri: 'https://evil.test/callback' })
  t.equal(back.status, 400)
  for (const path of ['/other', '/secret', '/http', '/large', '/text', '/moved', '/missing', '/slow', '/broken']) {
    const { status, html } = await of(`${path}.json`).begin(browser)
    t.match({ status, html }, { status: 400, html: 'This program cannot be connected' }, path)
  }
  t.equal(asked.filter((path) => path === '/agent.json').length, 1, 'a redirect is not followed')
})

t.test('a person decides about the program that has asked, even when its document is gone since then', async (t) => {
  const document = { name: 'Agent', isGone: false }
  const port = await startTlsServer(t, ({ url }, response) => {
    const metadata = { client_id: address(url), client_name: document.name, redirect_uris: [redirectUri] }
    response.writeHead(document.isGone ? 404 : 200).end(JSON.stringify(metadata))
  })
  const address = (path = '') => `https://localhost:${port}${path}`
  const service = await startTestService(t, { OAUTH_ALLOW_PRIVATE: 'true' })
  const { TOKEN_PEPPER, SESSION_SECRET } = service.config
  const other = await startTestService(t, {
    OAUTH_ALLOW_PRIVATE: 'true',
    DATABASE_URL: service.url,
    TOKEN_PEPPER,
    SESSION_SECRET,
  })
  const { user_id: userId } = await service.signUp()
  const browser = await signedInVisitor(service, { userId })
  const elsewhere = await signedInVisitor(other, { userId })
  const program = new OAuthProgram({ origin: service.origin, clientId: address('/agent.json'), redirectUri })
  const { path } = await program.begin(browser)
  for (const [name, value] of browser.cookies) elsewhere.cookies.set(name, value)
  document.name = 'Bank'
  t.match(await elsewhere.get(path), { status: 200, html: '“<bdi>Agent</bdi>”' })
  document.isGone = true
  const { status, html } = await elsewhere.get(path)
  t.match({ status, html }, { status: 200, html: '“<bdi>Agent</bdi>”' })
  const decided = await elsewhere.post(path, { ...hiddenFields(html, path), decision: 'approve' })
  t.equal(decided.status, 303)
  const granted = await service.database.anyFirst(sql.unsafe`SELECT client_name FROM oauth_grants`)
  t.same(granted, ['Agent'])
})

t.test('a program whose site is away for a moment keeps its tokens', async (t) => {
  const outages: Record<string, RequestListener> = {
    'it says so': (_request, response) => response.writeHead(503).end(),
    'it asks to wait': (_request, response) => response.writeHead(429).end(),
    'it closes the connection': (_request, response) => response.socket?.destroy(),
    'it breaks off': (_request, response) => {
      response.writeHead(200).write('{', () => response.socket?.destroy())
    },
  }
  let site: RequestListener
  const published: RequestListener = ({ url }, response) =>
    response.writeHead(200).end(JSON.stringify({ client_id: address(url), redirect_uris: [redirectUri] }))
  const port = await startTlsServer(t, (request, response) => site(request, response))
  const address = (path = '') => `https://localhost:${port}${path}`
  const service = await startTestService(t, { OAUTH_ALLOW_PRIVATE: 'true' })
  const { TOKEN_PEPPER, SESSION_SECRET } = service.config
  const other = await startTestService(t, {
    OAUTH_ALLOW_PRIVATE: 'true',
    DATABASE_URL: service.url,
    TOKEN_PEPPER,
    SESSION_SECRET,
  })
  const { user_id: userId } = await service.signUp()
  const browser = await signedInVisitor(service, { userId })
  const program = new OAuthProgram({ origin: service.origin, clientId: address('/agent.json'), redirectUri })
  const elsewhere = new OAuthProgram({ ...program, origin: other.origin })
  site = published
  const tokens = await program.connect(browser)
  for (const [how, outage] of Object.entries(outages)) {
    site = outage
    const refused = await elsewhere.refresh(tokens.refresh_token)
    t.match(refused, { status: 503, body: { error: 'temporarily_unavailable' } }, how)
    t.ok(Number(refused.headers.get('retry-after')) > 0)
  }
  t.match(await elsewhere.revoke(tokens.refresh_token), { status: 503, body: { error: 'temporarily_unavailable' } })
  site = (_request, response) => response.writeHead(404).end()
  t.match(await elsewhere.refresh(tokens.refresh_token), { body: { error: 'invalid_client' } }, 'it is gone')
  site = published
  t.equal((await elsewhere.refresh(tokens.refresh_token)).status, 200)
})

t.test('a server that answers with nonsense does not end the process', async (t) => {
  const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n'
  const port = await startTlsServer(t, ({ url }, response) => {
    const nonsense = 'no length\r\n'
    if (url === '/at-once.json') return void response.socket?.end(head + nonsense)
    response.socket?.write(head)
    setTimeout(() => response.socket?.end(nonsense), 100)
  })
  const service = await startTestService(t, { OAUTH_ALLOW_PRIVATE: 'true' })
  const { user_id: userId } = await service.signUp()
  const browser = await signedInVisitor(service, { userId })
  for (const path of ['at-once', 'later']) {
    const clientId = `https://localhost:${port}/${path}.json`
    const { status, html } = await new OAuthProgram({ origin: service.origin, clientId, redirectUri }).begin(browser)
    t.match({ status, html }, { status: 400, html: 'This program cannot be connected' }, path)
  }
})

t.test('a server that answers slowly keeps no connection of the database from others', async (t) => {
  const asked = Promise.withResolvers<void>()
  const answered = Promise.withResolvers<void>()
  const port = await startTlsServer(t, async (_request, response) => {
    asked.resolve()
    await answered.promise
    response.writeHead(404).end()
  })
  const service = await startTestService(t, { OAUTH_ALLOW_PRIVATE: 'true' })
  const clientId = `https://localhost:${port}/a.json`
  const reply = new OAuthProgram({ origin: service.origin, clientId, redirectUri }).exchange('x', {
    code_verifier: 'x',
  })
  await asked.promise
  const idle = await service.database.oneFirst(sql.unsafe`
    SELECT count(*)::int FROM pg_stat_activity
    WHERE datname = current_database() AND state LIKE 'idle in transaction%'`)
  answered.resolve()
  t.match(await reply, { body: { error: 'invalid_client' } })
  t.equal(idle, 0)
})

t.test('nobody makes the service look into the network around it', async (t) => {
  const asked: string[] = []
  const port = await startTlsServer(t, (request, response) => {
    asked.push(request.url ?? '')
    response.end('{}')
  })
  const service = await startTestService(t)
  const { user_id: userId } = await service.signUp()
  const browser = await signedInVisitor(service, { userId })
  const inside = [
    ...[`https://localhost:${port}/a.json`, `https://127.0.0.1:${port}/a.json`, `https://[::1]:${port}/a.json`],
    ...[`https://[::ffff:127.0.0.1]:${port}/a.json`, `https://2130706433:${port}/a.json`],
    ...[`https://0x7f.1:${port}/a.json`, 'https://169.254.169.254/latest/meta-data', 'https://10.0.0.1/a.json'],
    ...['https://[fd00::1]/a.json', `http://localhost:${port}/a.json`, 'https://user@localhost/a.json'],
    ...['file:///etc/passwd'],
  ]
  for (const clientId of inside) {
    const program = new OAuthProgram({ origin: service.origin, clientId, redirectUri })
    const { status, html } = await program.begin(browser, { code_challenge: newProof().challenge })
    t.match({ status, html }, { status: 400, html: 'This program cannot be connected' }, clientId)
    t.notMatch(html, 'ECONNREFUSED', 'nobody learns what is there')
    t.match(await program.exchange('x', { code_verifier: 'x' }), { body: { error: 'invalid_client' } })
  }
  t.same(asked, [])
  const options = { headers: new Headers(), signal: AbortSignal.timeout(5000), allowPrivate: false }
  await t.rejects(fetchPublic(`https://localhost:${port}/`, options), PrivateAddressError)
  await t.rejects(fetchPublic('https://192.0.2.1/', options), PrivateAddressError, 'addresses of documentation')
  await t.rejects(
    fetchPublic('https://[64:ff9b::a00:1]/', options),
    PrivateAddressError,
    'an address inside in disguise',
  )
})
