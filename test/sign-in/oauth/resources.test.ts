import { sql } from 'slonik'
import { countsFor, recordedResource } from '../../../shared/auth/oauth/resources.ts'
import { Client } from '../../support/client.ts'
import { startTestService } from '../../support/service.ts'
import { t } from '../../support/tap.ts'

const origin = 'https://kb.example.test'

t.test('a program finds the authorization server and the scopes from the address alone', async (t) => {
  const service = await startTestService(t, { PUBLIC_ORIGIN: origin })
  const reader = new Client({ origin: service.origin })
  const { status, headers, body } = await reader.call('GET', '//.well-known/oauth-authorization-server')
  t.equal(status, 200)
  t.equal(headers.get('access-control-allow-origin'), '*', 'a client in a browser reads it, too')
  t.match(body, {
    issuer: origin,
    authorization_endpoint: `${origin}/oauth/authorize`,
    token_endpoint: `${origin}/oauth/token`,
    revocation_endpoint: `${origin}/oauth/revoke`,
    registration_endpoint: `${origin}/oauth/register`,
    response_types_supported: ['code'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: ['none'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
  })
  for (const [path, resource] of Object.entries({ '': '', '/mcp': '/mcp', '/api/v1': '/api/v1' })) {
    const answer = await reader.call('GET', `//.well-known/oauth-protected-resource${path}`)
    t.match(answer.body, {
      resource: origin + resource,
      authorization_servers: [origin],
      bearer_methods_supported: ['header'],
      scopes_supported: body.scopes_supported,
    })
  }
  t.equal((await reader.call('POST', '//.well-known/oauth-authorization-server')).status, 405)
  t.equal((await reader.call('GET', '//.well-known/oauth-protected-resource/other')).status, 404)
})

t.test('a token that was given for the tools of agents opens nothing through the API', async (t) => {
  const { signUp, database, origin: called } = await startTestService(t, { PUBLIC_ORIGIN: origin })
  const ada = await signUp()
  const meant = { [`${origin}/mcp`]: 401, [`${origin}/api/v1`]: 200, [origin]: 200, 'https://other.test/api/v1': 401 }
  const client = new Client({ origin: called, token: ada.token })
  for (const [resource, expected] of Object.entries(meant)) {
    await database.query(sql.unsafe`
      WITH given AS (
        INSERT INTO oauth_grants (id, user_id, client_id, client_name, redirect_host, scopes, resource, expires_at)
        VALUES (gen_random_uuid(), ${ada.user_id}, 'agent', 'Agent', 'agent.test', '{}', ${resource}, now())
        RETURNING id)
      UPDATE tokens SET name = 'Agent', resource = ${resource}, grant_id = (SELECT id FROM given)
      WHERE user_id = ${ada.user_id}`)
    const { status, headers, body } = await client.get('/me')
    t.equal(status, expected, resource)
    if (status === 200) t.equal(body.data.client_name, 'Agent')
    else t.match(headers.get('www-authenticate'), /error="invalid_token"/)
  }
})

t.test('a resource is recorded in one spelling, and other addresses are none of this service', (t) => {
  const known = ['', '/', '/mcp', '/mcp/', '/api/v1', '/api/v1/']
  t.same(
    known.map((path) => recordedResource(origin, origin + path)),
    ['', '', '/mcp', '/mcp', '/api/v1', '/api/v1'].map((path) => origin + path),
  )
  const foreign = [
    ...['', '//', `${origin}//`, `${origin}/api`, `${origin}.evil.test`, `${origin}/mcp#x`, `${origin}/mcp?x`],
  ]
  for (const address of foreign) t.equal(recordedResource(origin, address), null, address)
  t.ok(countsFor(origin, { origin, resource: 'mcp' }), 'the whole service includes the tools')
  t.notOk(countsFor(`${origin}/api/v1`, { origin, resource: 'mcp' }))
  t.ok(countsFor(null, { origin, resource: 'mcp' }), 'a token that a person made counts everywhere')
  t.end()
})
