import { scopes } from '../../../shared/auth/scopes.ts'
import { Client } from '../../support/client.ts'
import { newProof, OAuthProgram } from '../../support/oauth-program.ts'
import { startTestService } from '../../support/service.ts'
import { t } from '../../support/tap.ts'
import { signedInVisitor } from '../../support/visitor.ts'

for (const PUBLIC_ORIGIN of ['http://localhost:3000', 'https://kb.example.test'])
  t.test(`a person lets a program in at ${PUBLIC_ORIGIN}, which works in their name`, async (t) => {
    const service = await startTestService(t, { PUBLIC_ORIGIN })
    const ada = await service.signUp({ email: 'ada@example.test' })
    const browser = await signedInVisitor(service, { userId: ada.user_id })
    const program = await OAuthProgram.register(service, { client_name: 'Agent <b>7</b>' })
    const { verifier, challenge } = newProof()
    const shown = await program.begin(browser, { code_challenge: challenge })
    t.equal(shown.status, 200)
    t.match(shown.html, '“<bdi>Agent &lt;b&gt;7&lt;/b&gt;</bdi>”')
    t.match(shown.html, '<bdi>agent.example.test</bdi>')
    t.match(shown.html, 'Create, change and delete documents')
    const back = await program.authorize(browser, { parameters: { code_challenge: challenge } })
    t.equal(back.origin + back.pathname, program.redirectUri)
    t.equal(back.searchParams.get('state'), 'a state')
    t.equal(back.searchParams.get('iss'), service.config.PUBLIC_ORIGIN)
    t.same(
      [...browser.cookies.keys()].filter((name) => name.endsWith('_session')),
      [PUBLIC_ORIGIN.startsWith('https:') ? '__Host-svc_session' : 'svc_session'],
    )
    const {
      status,
      headers,
      body: tokens,
    } = await program.exchange(back.searchParams.get('code') ?? '', { code_verifier: verifier })
    t.equal(status, 200, JSON.stringify(tokens))
    t.equal(headers.get('cache-control'), 'no-store')
    t.match(tokens, { token_type: 'Bearer', expires_in: 3600, scope: scopes.join(' ') })
    t.match(tokens.access_token, /^svc_tok_[0-9A-Z]{26}_[A-Za-z0-9]{43}$/)
    t.notHas(tokens, 'id_token')
    const agent = new Client({ origin: service.origin, token: tokens.access_token })
    t.match(await agent.get('/me'), { status: 200, body: { data: { client_name: 'Agent <b>7</b>', scopes } } })
    t.equal((await agent.post('/knowledge-bases', { name: 'Made by the agent' })).status, 201)

    const next = await program.refresh(tokens.refresh_token)
    t.equal(next.status, 200, JSON.stringify(next.body))
    t.not(next.body.refresh_token, tokens.refresh_token)
    const renewed = new Client({ origin: service.origin, token: next.body.access_token })
    t.equal((await renewed.get('/me')).status, 200)
    const revoked = await program.revoke(next.body.refresh_token)
    t.equal(revoked.status, 200, JSON.stringify(revoked.body))
    t.match(await renewed.get('/me'), { status: 401, body: { error: { code: 'token_revoked' } } })
    t.match(await agent.get('/me'), { status: 401, body: { error: { code: 'token_revoked' } } })
    t.match(await program.refresh(next.body.refresh_token), { status: 400, body: { error: 'invalid_grant' } })
  })
