import { sql } from 'slonik'
import { mostWaiting } from '../../../shared/auth/oauth/artifacts.ts'
import { Client } from '../../support/client.ts'
import { connectMcp } from '../../support/mcp.ts'
import { newProof, OAuthProgram, type Tokens } from '../../support/oauth-program.ts'
import { startProcess } from '../../support/processes.ts'
import { startTestService } from '../../support/service.ts'
import { t } from '../../support/tap.ts'
import { signedInVisitor } from '../../support/visitor.ts'

t.test('tokens', async (t) => {
  const service = await startTestService(t, { SSE_HEARTBEAT_SECONDS: '1', RATE_READ_PER_MIN: '10000' })
  const other = await startTestService(t, secretsOf(service))
  const { PUBLIC_ORIGIN: issuer } = service.config
  const ada = await service.signUp()
  const browser = await signedInVisitor(service, { userId: ada.user_id })
  const program = await OAuthProgram.register(service)
  const sameElsewhere = new OAuthProgram({ ...program, origin: other.origin })
  const me = (token: string) => new Client({ origin: other.origin, token }).get('/me')

  async function newCode(parameters: Record<string, string> = {}): Promise<{ code: string; verifier: string }> {
    const { verifier, challenge } = newProof()
    const back = await program.authorize(browser, { parameters: { code_challenge: challenge, ...parameters } })
    return { code: back.searchParams.get('code') ?? '', verifier }
  }

  t.test('a code that was stolen or slipped in is worth nothing to somebody else', async (t) => {
    const { code, verifier } = await newCode()
    const eve = await OAuthProgram.register(service)
    const { challenge: _, verifier: wrong } = newProof()
    const attempts = {
      'another program': eve.exchange(code, { code_verifier: verifier }),
      'no verifier': program.exchange(code),
      'another verifier': program.exchange(code, { code_verifier: wrong }),
      'the challenge as verifier': program.exchange(code, { code_verifier: 'x'.repeat(43) }),
      'another address': program.exchange(code, { code_verifier: verifier, redirect_uri: `${program.redirectUri}/` }),
      'another code': program.exchange(`${code}x`, { code_verifier: verifier }),
      'another resource': program.exchange(code, { code_verifier: verifier, resource: `${issuer}/mcp` }),
      'a foreign resource': program.exchange(code, { code_verifier: verifier, resource: 'https://other.test' }),
    }
    for (const [how, attempt] of Object.entries(attempts)) {
      t.match(await attempt, { status: 400, body: { error: /^invalid_(grant|target)$/, error_description: /./ } }, how)
    }
    const unknown = new OAuthProgram({ ...program, clientId: 'client_unknown' })
    t.match(await unknown.exchange(code, { code_verifier: verifier }), {
      status: 401,
      body: { error: 'invalid_client' },
    })
    t.equal((await program.exchange(code, { code_verifier: verifier })).status, 200, 'its owner still gets in')
  })

  t.test('a code that is used twice ends everything that followed from it', async (t) => {
    const { code, verifier } = await newCode()
    const { body: tokens } = await program.exchange(code, { code_verifier: verifier })
    t.equal((await me(tokens.access_token)).status, 200)
    t.match(await sameElsewhere.exchange(code, { code_verifier: verifier }), {
      status: 400,
      body: { error: 'invalid_grant' },
    })
    t.match(await me(tokens.access_token), { status: 401, body: { error: { code: 'token_revoked' } } })
    t.match(await program.refresh(tokens.refresh_token), { status: 400, body: { error: 'invalid_grant' } })
  })

  t.test('a program of OAuth 2.1, which sends no redirect URI with its code, gets tokens', async (t) => {
    const { code, verifier } = await newCode()
    const exchange = (parameters: Record<string, string | null>) => program.exchange(code, parameters)
    const elsewhere = await exchange({ code_verifier: verifier, redirect_uri: 'http://127.0.0.1/elsewhere' })
    t.match(elsewhere, { status: 400, body: { error: 'invalid_grant' } })
    const { body: tokens } = await exchange({ code_verifier: verifier, redirect_uri: null })
    t.equal((await me(tokens.access_token)).status, 200)
    t.match(await exchange({ redirect_uri: null }), { status: 400, body: { error: 'invalid_grant' } })
  })

  t.test('of exchanges of one code at once, in two processes, at most one gets tokens', async (t) => {
    const { code, verifier } = await newCode()
    const exchange = (n: number) => (n % 2 === 0 ? program : sameElsewhere).exchange(code, { code_verifier: verifier })
    const replies = await Promise.all(Array.from({ length: 8 }, (_, n) => exchange(n)))
    const given = replies.filter(({ status }) => status === 200)
    t.equal(given.length, 1)
    t.ok(replies.every(({ status, body }) => status === 200 || body.error === 'invalid_grant'))
    t.equal(
      (await me(given[0]?.body.access_token)).status,
      401,
      'and they are revoked, because the code was used twice',
    )
  })

  t.test('a code is worth nothing after its minute', async (t) => {
    const { code, verifier } = await newCode()
    await service.database.query(sql.unsafe`
      UPDATE oauth_artifacts SET expires_at = now() - interval '1 second' WHERE kind = 'AuthorizationCode'`)
    t.match(await program.exchange(code, { code_verifier: verifier }), {
      status: 400,
      body: { error: 'invalid_grant' },
    })
  })

  t.test('a stolen refresh token ends the whole family, the tokens of the thief and those of the owner', async (t) => {
    const first = await program.connect(browser)
    const { body: second } = await program.refresh(first.refresh_token)
    const { body: third } = await sameElsewhere.refresh(second.refresh_token)
    for (const { access_token } of [first, second, third]) t.equal((await me(access_token)).status, 200)
    await letPass(31)
    t.match(await program.refresh(first.refresh_token), { status: 400, body: { error: 'invalid_grant' } }, 'the thief')
    for (const { access_token } of [first, second, third]) {
      t.match(await me(access_token), { status: 401, body: { error: { code: 'token_revoked' } } })
    }
    t.match(await program.refresh(third.refresh_token), { status: 400, body: { error: 'invalid_grant' } }, 'the owner')
  })

  async function letPass(seconds: number) {
    await service.database.query(sql.unsafe`
      WITH used AS (UPDATE oauth_artifacts SET used_at = used_at - make_interval(secs => ${seconds}))
      UPDATE tokens SET created_at = created_at - make_interval(secs => ${seconds}) WHERE grant_id IS NOT NULL`)
  }

  // Stores used refresh tokens of the newest grant, and their access tokens. The last was used some seconds ago, and
  // each before it so many seconds earlier.
  async function useOthers({ count, secondsAgo, apart }: Record<'count' | 'secondsAgo' | 'apart', number>) {
    await service.database.query(sql.unsafe`
      WITH others AS (
        SELECT g.*, md5(g.id || n) AS hash,
          now() - make_interval(secs => ${secondsAgo}::float8 + n * ${apart}::float8) AS at
        FROM generate_series(1, ${count}) n,
          (SELECT id, user_id, resource FROM oauth_grants ORDER BY created_at DESC, id DESC LIMIT 1) g),
      used AS (
        INSERT INTO oauth_artifacts (id_hash, kind, grant_id, payload, used_at, expires_at)
        SELECT decode(hash, 'hex'), 'RefreshToken', id, '{}', at, now() + interval '1 day' FROM others)
      INSERT INTO tokens (id, user_id, secret_hash, scopes, created_at, expires_at, grant_id, resource)
      SELECT hash, user_id, '', '{}', at, now() + interval '1 day', id, resource FROM others`)
  }

  t.test('a stolen refresh token ends the family, however often the thief has refreshed since then', async (t) => {
    const first = await program.connect(browser)
    const { body: second } = await program.refresh(first.refresh_token)
    await service.database.query(sql.unsafe`
      UPDATE oauth_artifacts SET used_at = now() - interval '20 days'
      WHERE kind = 'RefreshToken' AND used_at = (SELECT max(used_at) FROM oauth_artifacts)`)
    await useOthers({ count: 1000, secondsAgo: 86_400, apart: 600 })
    const { body: third } = await program.refresh(second.refresh_token)
    t.equal((await me(third.access_token)).status, 200, 'the thief')
    t.match(await program.refresh(first.refresh_token), { status: 400, body: { error: 'invalid_grant' } }, 'the owner')
    t.equal((await me(third.access_token)).status, 401)
    t.match(await program.refresh(third.refresh_token), { status: 400, body: { error: 'invalid_grant' } })
  })

  t.test('neither requests that nobody decides about nor endless refreshes fill the table', async (t) => {
    const { database } = service
    const count = (where: ReturnType<typeof sql.fragment>) =>
      database.oneFirst(sql.unsafe`SELECT count(*)::int FROM oauth_artifacts WHERE ${where}`)
    await database.query(sql.unsafe`
      INSERT INTO oauth_artifacts (id_hash, kind, payload, expires_at)
      SELECT decode(md5('waiting' || n), 'hex'), 'Interaction', '{}', now() + interval '1 minute'
      FROM generate_series(1, ${mostWaiting}) n`)
    const first = await program.connect(browser)
    t.equal(await count(sql.fragment`kind = 'Interaction'`), mostWaiting - 1, 'and the newest was decided')
    await useOthers({ count: 58, secondsAgo: 3020, apart: 9 })
    const { body: second } = await program.refresh(first.refresh_token)
    t.equal((await me(second.access_token)).status, 200)
    const refused = await program.refresh(second.refresh_token)
    t.match(refused, { status: 429, body: { error: 'temporarily_unavailable' } })
    t.equal((await program.refresh(first.refresh_token)).status, 429, 'the leeway is no way around the bound')
    const wait = Number(refused.headers.get('retry-after'))
    t.ok(wait > 30 && wait <= 70, `the oldest of 60 tokens is an hour old in a minute, not in ${wait} seconds`)
    await letPass(120)
    const { status, body: third } = await program.refresh(second.refresh_token)
    t.equal(status, 200, 'the refresh token was not used up')
    t.equal((await program.refresh(first.refresh_token)).status, 400)
    t.equal((await me(third.access_token)).status, 401, 'a second use of a token is noticed at once')
    await database.query(sql.unsafe`DELETE FROM oauth_artifacts WHERE kind = 'Interaction'`)
  })

  t.test('calls in parallel that each refresh an expired token, in two processes, all go on', async (t) => {
    let { refresh_token: current } = await program.connect(browser)
    for (let expiry = 0; expiry < 5; expiry += 1) {
      const refresh = (n: number) => (n % 2 === 0 ? program : sameElsewhere).refresh(current)
      const replies = await Promise.all(Array.from({ length: 8 }, (_, n) => refresh(n)))
      t.strictSame([...new Set(replies.map(({ status }) => status))], [200])
      t.equal(new Set(replies.map(({ body }) => body.refresh_token)).size, 1, 'one family')
      for (const { body } of replies) t.equal((await me(body.access_token)).status, 200)
      t.not(replies[0]?.body.refresh_token, current)
      current = replies[0]?.body.refresh_token
    }
  })

  t.test('a refresh token gets no more than was approved, and for nothing else', async (t) => {
    const reading = await program.connect(browser, { parameters: { scope: 'documents:read concepts:read' } })
    const more = await program.refresh(reading.refresh_token, { scope: 'documents:read documents:write' })
    t.match(more, { status: 400, body: { error: 'invalid_scope' } })
    const elsewhere = await program.refresh(reading.refresh_token, { resource: `${issuer}/mcp` })
    t.match(elsewhere, { status: 400, body: { error: 'invalid_target' } })
    const eve = await OAuthProgram.register(service)
    t.match(await eve.refresh(reading.refresh_token), { status: 400, body: { error: 'invalid_grant' } })
    const less = await program.refresh(reading.refresh_token, { scope: 'concepts:read' })
    t.match(less, { status: 200, body: { scope: 'concepts:read' } })
    t.strictSame((await me(less.body.access_token)).body.data.scopes, ['concepts:read'])
    const again = await program.refresh(less.body.refresh_token)
    t.equal(again.body.scope, 'documents:read concepts:read', 'what was approved is not narrowed for good')
  })

  t.test('a crash in the middle of a refresh does not lock the program out', async (t) => {
    const first = await program.connect(browser)
    await service.database.query(
      sql.unsafe`ALTER TABLE tokens ADD CONSTRAINT full_disk CHECK (grant_id IS NULL) NOT VALID`,
    )
    const failed = await program.refresh(first.refresh_token)
    t.match(failed, { status: 500, body: { error: 'server_error' } })
    await service.database.query(sql.unsafe`ALTER TABLE tokens DROP CONSTRAINT full_disk`)
    t.equal((await program.refresh(first.refresh_token)).status, 200, 'the refresh token was not used up')
  })

  t.test('a program that says goodbye is disconnected, and one program cannot disconnect another', async (t) => {
    const mine = await program.connect(browser)
    const eve = await OAuthProgram.register(service)
    for (const token of [mine.refresh_token, mine.access_token, 'nonsense', ada.token]) {
      t.equal((await eve.revoke(token)).status, 200)
    }
    t.equal((await me(mine.access_token)).status, 200)
    t.equal((await me(ada.token)).status, 200, 'a token that a person made is none of OAuth')
    t.equal((await program.revoke(mine.access_token)).status, 200)
    t.match(await me(mine.access_token), { status: 401, body: { error: { code: 'token_revoked' } } })
    t.match(await program.refresh(mine.refresh_token), { status: 400, body: { error: 'invalid_grant' } })
    const again = await program.connect(browser)
    const { body: renewed } = await program.refresh(again.refresh_token)
    const signOut = () => new Client({ origin: other.origin }).post('/auth/revoke', { token: again.access_token })
    t.equal((await signOut()).status, 204)
    t.match(await me(renewed.access_token), { status: 401, body: { error: { code: 'token_revoked' } } })
    t.match(await program.refresh(renewed.refresh_token), { status: 400, body: { error: 'invalid_grant' } })
    t.equal((await signOut()).status, 204, 'a repetition is no error')
  })

  t.test('the operator disconnects a program by the id of an access token that got out', async (t) => {
    const first = await program.connect(browser)
    const { body: second } = await program.refresh(first.refresh_token)
    const command = startProcess('shared/auth/bootstrap-command.ts', {
      words: ['--revoke', tokenId(first)],
      env: { DATABASE_URL: service.url, DATA_DIR: service.config.DATA_DIR },
    })
    t.equal(await command.ended, 0)
    t.same(JSON.parse(command.output()), { token_id: tokenId(first), revoked: true })
    t.match(await me(second.access_token), { status: 401, body: { error: { code: 'token_revoked' } } })
    t.match(await program.refresh(second.refresh_token), { status: 400, body: { error: 'invalid_grant' } })
  })

  t.test('a program that renews its access token in the middle of its work goes on as the same caller', async (t) => {
    const { origin } = service
    const headersOf = (token: string) => ({ authorization: `Bearer ${token}` })
    const first = await program.connect(browser)
    const before = new Client({ origin, token: first.access_token })
    const { body: base } = await before.post('/knowledge-bases', { name: 'B' })
    const create = async (token: string) => {
      const { call } = await connectMcp(t, { origin, token })
      return call('write', { title: 'D', knowledge_base_id: base.data.id, content: 'D' }, { key: 'once' })
    }
    const { structuredContent: created } = await create(first.access_token)
    const listen = (token: string) => fetch(`${origin}/api/v1/events`, { headers: headersOf(token) })
    const streams = await Promise.all([1, 2, 3].map(() => listen(first.access_token)))
    t.strictSame(new Set(streams.map(({ status }) => status)), new Set([200]))
    const readsLeft = async (client: Client) => Number((await client.get('/me')).headers.get('x-ratelimit-remaining'))
    const left = await readsLeft(before)

    const { body: second } = await program.refresh(first.refresh_token)
    const after = new Client({ origin, token: second.access_token })
    t.equal(await readsLeft(after), left - 1, 'its limits go on')
    const { structuredContent: repeated } = await create(second.access_token)
    t.strictSame(repeated, created, 'a repetition of a call makes no second document')
    t.ok((await readsLeft(after)) < left - 2, 'the messages of its tools count together with its other calls')
    t.equal((await after.get(`/documents?knowledge_base_id=${base.data.id}`)).body.data.length, 1)
    t.equal((await listen(second.access_token)).status, 429, 'its streams go on, and leave no place for a fourth')
    await service.database.query(sql.unsafe`UPDATE tokens SET revoked_at = now() WHERE id = ${tokenId(first)}`)
    for (const stream of streams) t.match(await stream.text(), 'event: auth.revoked', 'each ends with its own token')
    t.equal((await after.get('/me')).status, 200)
  })

  t.test('a person sees the programs that they let in, and takes the access back at once', async (t) => {
    const named = await OAuthProgram.register(service, { client_name: 'Nightly <i>sync</i>' })
    const tokens = await named.connect(browser, { decision: 'approve_read_only' })
    t.equal((await me(tokens.access_token)).status, 200)
    const { html } = await browser.get('/account/tokens')
    const row = html.split('<tr>').find((text) => text.includes('Nightly &lt;i&gt;sync&lt;/i&gt;')) ?? ''
    t.match(row, 'agent.example.test')
    t.match(row, 'Read only')
    t.match(row, /data-label="Last used"><time/)
    const action = /action="(\/account\/grants\/[^"]+)"/.exec(row)?.[1] ?? ''
    const headers = { authorization: `Bearer ${tokens.access_token}` }
    const stream = await fetch(`${service.origin}/api/v1/events`, { headers })
    t.equal(stream.status, 200)
    const eve = await signedInVisitor(service, { userId: (await service.signUp()).user_id })
    t.equal((await eve.send(action, {})).status, 404, 'the grant of somebody else')
    t.equal((await browser.post(action, {})).status, 403)
    t.equal((await browser.send(action, {})).location, '/account/tokens')
    t.match(await stream.text(), 'event: auth.revoked', 'and the stream of the program ends')
    t.match(await me(tokens.access_token), { status: 401, body: { error: { code: 'token_revoked' } } })
    t.match(await named.refresh(tokens.refresh_token), { status: 400, body: { error: 'invalid_grant' } })
    t.notMatch((await browser.get('/account/tokens')).html, 'Nightly')
  })

  t.test('the owner of a workspace reads which program has written', async (t) => {
    const named = await OAuthProgram.register(service, { client_name: 'Scribe' })
    const tokens = await named.connect(browser)
    const agent = new Client({ origin: service.origin, token: tokens.access_token })
    const { body: base } = await agent.post('/knowledge-bases', { name: 'B' }, { 'user-agent': 'node/24' })
    await agent.post('/documents', { title: 'D', knowledge_base_id: base.data.id })
    t.match((await ada.get('/audit?limit=1')).body.data, [{ action: 'createDocument', client: { name: 'Scribe' } }])
  })

  t.test('whoever steals the database gets in nowhere', async (t) => {
    const { code, verifier } = await newCode()
    const { body: tokens } = await program.exchange(code, { code_verifier: verifier })
    await program.begin(browser)
    const request = browser.cookies.get('svc_oauth_request') ?? ''
    const stored = await service.database.any(sql.unsafe`
      SELECT a::text AS row FROM oauth_artifacts a UNION ALL SELECT t::text FROM tokens t
      UNION ALL SELECT g::text FROM oauth_grants g`)
    for (const secret of [code, tokens.refresh_token, tokens.access_token.split('_')[3], request]) {
      t.ok(secret.length > 20)
      t.notMatch(JSON.stringify(stored), secret)
    }
  })
})

// The settings of a second process on the same database, with the same secrets.
function secretsOf({ url, config }: Awaited<ReturnType<typeof startTestService>>): Record<string, string> {
  return { DATABASE_URL: url, TOKEN_PEPPER: config.TOKEN_PEPPER, SESSION_SECRET: config.SESSION_SECRET }
}

// The id of an access token.
function tokenId({ access_token: bearer }: Tokens): string {
  return bearer.split('_').slice(1, 3).join('_')
}
