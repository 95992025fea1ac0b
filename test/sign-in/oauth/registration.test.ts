import { sql } from 'slonik'
import { mostUnapproved } from '../../../shared/auth/oauth/clients.ts'
import { deleteExpiredOAuth } from '../../../shared/auth/oauth/expiry.ts'
import { OAuthProgram, postJson } from '../../support/oauth-program.ts'
import { startTestService } from '../../support/service.ts'
import { t } from '../../support/tap.ts'
import { signedInVisitor } from '../../support/visitor.ts'

const redirect_uris = ['https://agent.example.test/callback']

t.test('registration', async (t) => {
  const service = await startTestService(t, { TRUST_PROXY: '1' })
  const { database } = service
  let addresses = 0
  const register = (metadata: object) => {
    addresses += 1
    const headers = { 'x-forwarded-for': `192.0.${addresses >> 8}.${addresses & 255}`, origin: 'https://web.test' }
    return postJson(`${service.origin}/oauth/register`, metadata, headers)
  }

  t.test('a program registers with the text that it uses everywhere, and learns what it got', async (t) => {
    const { status, headers, body } = await register({
      client_name: '  Agent  ',
      redirect_uris,
      token_endpoint_auth_method: 'client_secret_post',
      grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
      response_types: ['code', 'token'],
      scope: 'openid documents:read mcp:tools',
      application_type: 'web',
      logo_uri: 'http://127.0.0.1/logo.png',
      jwks_uri: 'http://127.0.0.1/keys',
      sector_identifier_uri: 'https://127.0.0.1/sector',
      software_id: 'agent',
    })
    t.equal(status, 201, JSON.stringify(body))
    t.equal(headers.get('access-control-allow-origin'), '*', 'a client in a browser reads it, too')
    t.match(body, {
      client_id: /^client_/,
      client_id_issued_at: Number,
      client_name: 'Agent',
      redirect_uris,
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      scope: 'documents:read',
    })
    const members = ['application_type', 'client_id', 'client_id_issued_at', 'client_name', 'grant_types']
    const others = ['redirect_uris', 'response_types', 'scope', 'token_endpoint_auth_method']
    t.same(Object.keys(body).sort(), [...members, ...others], 'nothing of OpenID Connect')
    for (const name of ['client_secret', 'jwks_uri', 'logo_uri', 'registration_access_token']) t.notHas(body, name)
    const plain = (await register({ redirect_uris })).body
    t.same(plain.grant_types, ['authorization_code', 'refresh_token'], 'a program stays connected unless it says no')
  })

  t.test('no code can ever go to an address that does not belong to the program', async (t) => {
    const bad = [
      undefined,
      [],
      'https://agent.example.test/callback',
      [7],
      ['nonsense'],
      ['https://agent.example.test/#fragment'],
      ['https://agent.example.test@evil.test/'],
      ['https://user:secret@agent.example.test/'],
      ['http://agent.example.test/'],
      ['http://localhost.evil.test/'],
      ['http://192.168.0.1/'],
      ['https://127.0.0.1/'],
      ['javascript:alert(1)'],
      ['data:text/html,x'],
      ['file:///etc/passwd'],
      ['https://agent.example.test/\u0000'],
      ['https://ägent.example.test/'],
      [`https://agent.example.test/${'x'.repeat(2000)}`],
      Array.from({ length: 21 }, (_, n) => `https://agent.example.test/${n}`),
    ]
    for (const uris of bad) {
      const { status, body } = await register({ redirect_uris: uris })
      t.equal(status, 400, JSON.stringify(uris)?.slice(0, 60))
      t.match(body, { error: /^invalid_(redirect_uri|client_metadata)$/, error_description: /redirect_uris/ })
    }
    const foreign =
      'about blob chrome chrome-extension content data file filesystem ftp intent itms-services jar javascript mailto ' +
      'moz-extension ms-msdt ms-settings safari-web-extension search-ms shell sms smb ssh tel vbscript view-source ' +
      'web+x webcal ws wss x-apple-x WS'
    for (const scheme of foreign.split(' ')) {
      t.equal((await register({ redirect_uris: [`${scheme}://agent.example.test/cb`] })).status, 400, scheme)
      t.equal((await register({ redirect_uris: [`${scheme}:cb`] })).status, 400, scheme)
    }
    const good = [['https://a.test/cb?x=1'], ['http://127.0.0.1:1/'], ['cursor://app/cb'], ['com.example.app:/cb']]
    for (const uris of good) t.equal((await register({ redirect_uris: uris })).status, 201, String(uris))
  })

  t.test('a registration that makes no sense gets an answer that programs understand', async (t) => {
    const names = ['', ' ', 7, {}, 'a\u0000b', '\ud800']
    for (const client_name of names) {
      const { status, body } = await register({ redirect_uris, client_name })
      t.match(
        { status, body },
        { status: 400, body: { error: 'invalid_client_metadata' } },
        JSON.stringify(client_name),
      )
    }
    t.equal((await register({ redirect_uris, client_name: null, scope: null })).status, 201, 'null is no name')
    t.equal((await register({ redirect_uris, client_name: 'x'.repeat(500) })).body.client_name.length, 80)
    for (const metadata of [[], 'text', 7, null]) {
      t.match(await register(metadata as object), { status: 400, body: { error: 'invalid_request' } })
    }
    const tooLong = await register({ redirect_uris, client_name: 'x'.repeat(17_000) })
    t.match(tooLong, { status: 413, body: { error: 'invalid_request', error_description: /./ } })
    const send = (init: RequestInit) =>
      fetch(`${service.origin}/oauth/register`, { headers: { 'content-type': 'application/json' }, ...init })
    const bodies: [RequestInit, number][] = [
      [{ method: 'POST', body: '{' }, 400],
      [{ method: 'POST', body: new Uint8Array([0xff, 0xfe]) }, 400],
      [{ method: 'POST', body: 'x', headers: { 'content-type': 'text/plain' } }, 415],
      [{ method: 'POST' }, 400],
      [{ method: 'GET' }, 405],
      [{ method: 'PUT', body: '{}' }, 405],
    ]
    for (const [init, expected] of bodies) {
      const answer = await send(init)
      t.equal(answer.status, expected, String(init.body))
      t.match(await answer.json(), { error: 'invalid_request', error_description: /./ })
    }
    t.equal((await send({ method: 'OPTIONS', headers: { origin: 'https://web.test' } })).status, 204)
  })

  t.test('a flood from one address is stopped, and other addresses go on', async (t) => {
    const from = (address: string) =>
      postJson(`${service.origin}/oauth/register`, { redirect_uris }, { 'x-forwarded-for': address })
    const replies = await Promise.all(Array.from({ length: 65 }, () => from('198.51.100.1')))
    t.equal(replies.filter(({ status }) => status === 201).length, 60)
    const stopped = replies.find(({ status }) => status !== 201)
    t.match(stopped, { status: 429, body: { error: 'temporarily_unavailable' } })
    t.ok(Number(stopped?.headers.get('retry-after')) > 0)
    t.equal((await from('198.51.100.2')).status, 201)
  })

  t.test('a flood from many addresses forgets programs that nobody approved, and no others', async (t) => {
    const { user_id: userId } = await service.signUp()
    const approved = await OAuthProgram.register({ origin: service.origin })
    const browser = await signedInVisitor(service, { userId })
    const tokens = await approved.connect(browser)
    await database.query(sql.unsafe`
      INSERT INTO oauth_clients (id, metadata, created_at)
      SELECT 'client_' || n, '{}', now() - interval '1 minute' FROM generate_series(1, ${mostUnapproved}) n`)
    t.equal((await register({ redirect_uris })).status, 201)
    const unapproved = sql.unsafe`SELECT count(*)::int FROM oauth_clients WHERE approved_at IS NULL`
    t.equal(await database.oneFirst(unapproved), mostUnapproved)
    t.equal((await approved.refresh(tokens.refresh_token)).status, 200)
  })

  t.test('what nobody uses any more is forgotten, and what is used stays', async (t) => {
    const { user_id: userId } = await service.signUp()
    const browser = await signedInVisitor(service, { userId })
    const used = await OAuthProgram.register({ origin: service.origin })
    const tokens = await used.connect(browser)
    const left = await OAuthProgram.register({ origin: service.origin })
    await left.connect(browser)
    await database.query(sql.unsafe`
      UPDATE oauth_clients SET created_at = created_at - interval '91 days', approved_at = approved_at - interval '91 days'`)
    await database.query(sql.unsafe`
      UPDATE oauth_grants SET expires_at = now() - interval '2 days' WHERE client_id = ${left.clientId}`)
    await database.query(sql.unsafe`
      UPDATE tokens SET expires_at = now() - interval '2 days'
      WHERE grant_id IN (SELECT id FROM oauth_grants WHERE client_id = ${left.clientId})`)
    while ((await deleteExpiredOAuth(database, { batch: 1000 })) > 0);
    const ids = await database.anyFirst(sql.unsafe`SELECT id FROM oauth_clients`)
    t.ok(ids.includes(used.clientId))
    t.notOk(ids.includes(left.clientId))
    const remaining = sql.unsafe`SELECT count(*)::int FROM tokens t JOIN oauth_grants g ON g.id = t.grant_id
      WHERE g.client_id = ${left.clientId}`
    t.equal(await database.oneFirst(remaining), 0)
    t.equal((await used.refresh(tokens.refresh_token)).status, 200)
    const { html } = await browser.get(left.authorizePath())
    t.match(html, 'This program cannot be connected')
  })
})

t.test('calls of the endpoints count by address, as those of the device flow do', async (t) => {
  const { origin } = await startTestService(t, { RATE_IP_PER_MIN: '2', TRUST_PROXY: '1' })
  const headers = { 'x-forwarded-for': '192.0.2.1' }
  const call = () => fetch(`${origin}/oauth/token`, { method: 'POST', headers, body: new URLSearchParams() })
  t.equal((await call()).status, 400)
  t.equal((await call()).status, 400)
  const stopped = await call()
  t.equal(stopped.status, 429)
  t.match(await stopped.json(), { error: 'temporarily_unavailable', error_description: /./ })
  const page = await fetch(`${origin}/oauth/authorize`, { headers })
  t.equal(page.status, 429)
  t.match(await page.text(), 'Too many attempts')
})
