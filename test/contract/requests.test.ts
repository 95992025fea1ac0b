import { once } from 'node:events'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { sql } from 'slonik'
import { routes } from '../../api/routes/routes.ts'
import { Client } from '../support/client.ts'
import { sharedService, startTestService } from '../support/service.ts'
import { t } from '../support/tap.ts'
import { createFixture, pathOf, queryOf, withModel } from './fixtures.ts'

const shared = await startTestService(t)

t.test('every GET but the stream also serves HEAD, with the same status and headers and no body', async (t) => {
  const { signUp } = await startTestService(t, withModel)
  const client = await signUp()
  const fixture = await createFixture(client)
  for (const spec of routes.filter(({ method, stream }) => method === 'GET' && !stream)) {
    const path = pathOf(spec, fixture) + queryOf(spec, fixture)
    const [got, head] = [await client.get(path), await client.call('HEAD', path)]
    t.equal(head.status, got.status, spec.path)
    t.equal(head.text, '')
    for (const name of ['content-type', 'etag', 'cache-control']) t.equal(head.headers.get(name), got.headers.get(name))
    t.equal(got.headers.get('cache-control'), 'private, no-cache')
    t.match(got.headers.get('vary'), 'Authorization')
  }
})

t.test('every path names its methods, without a token and to whoever uses a wrong one', async (t) => {
  const { origin, signUp } = shared
  const client = await signUp()
  const nobody = new Client({ origin })
  for (const [path, specs] of Map.groupBy(routes, (spec) => spec.path)) {
    const methods = specs.map(({ method }) => method as string)
    const hasHead = specs.some(({ method, stream }) => method === 'GET' && !stream)
    const allow = [...methods, ...(hasHead ? ['HEAD'] : []), 'OPTIONS'].join(', ')
    const concrete = path.replaceAll(/\{\w+\}/g, '1')
    const options = await nobody.call('OPTIONS', concrete)
    t.equal(options.status, 204, path)
    t.equal(options.headers.get('allow'), allow)
    const wrong = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter((method) => !methods.includes(method))
    for (const method of wrong) {
      const reply = await nobody.call(method, concrete)
      t.equal(reply.status, 405, `${method} ${path}`)
      t.equal(reply.headers.get('allow'), allow)
      t.match(reply.body.error, {
        type: 'request_error',
        code: 'method_not_allowed',
        details: { allow: allow.split(', ') },
      })
    }
  }
  t.equal((await client.call('PROPFIND', '/me')).status, 405)
})

t.test('an unknown path is 404 for everyone, before anybody asks for a token', async (t) => {
  const { origin, signUp } = shared
  for (const client of [new Client({ origin }), await signUp()]) {
    for (const path of ['/nowhere', '/me/', '/ME', '/knowledge-bases/1/nowhere', '//api', '//api/v2/me', '/%E0%A4%A']) {
      const reply = await client.get(path)
      t.match(reply, { status: 404, body: { error: { type: 'request_error', code: 'route_not_found' } } }, path)
    }
  }
})

t.test('a caller can name the request, and every answer says which one it was', async (t) => {
  const { signUp } = shared
  const client = await signUp()
  for (const id of ['a', 'req-1.2_3', 'x'.repeat(128)]) {
    const reply = await client.get('/me', { 'x-request-id': id })
    t.equal(reply.headers.get('x-request-id'), id)
    t.equal(reply.body.request_id, id)
  }
  for (const id of ['', 'x'.repeat(129), 'a b', 'ä', 'a/b', '<script>']) {
    const reply = await client.get('/nowhere', { 'x-request-id': id })
    t.match(reply.body.request_id, /^req_[0-9A-HJKMNP-TV-Z]{26}$/)
    t.equal(reply.headers.get('x-request-id'), reply.body.request_id)
  }
})

t.test('a page of any origin can call the API and read its headers, but never with cookies', async (t) => {
  const { origin, signUp } = shared
  const client = await signUp()
  const reply = await client.get('/me', { origin: 'https://app.example', cookie: 'session=1' })
  t.equal(reply.headers.get('access-control-allow-origin'), '*')
  t.notOk(reply.headers.get('access-control-allow-credentials'))
  const exposed = reply.headers.get('access-control-expose-headers')?.split(',')
  for (const name of ['ETag', 'Location', 'Retry-After', 'X-Request-Id', 'X-RateLimit-Limit', 'Content-Disposition']) {
    t.ok(exposed?.includes(name), name)
  }
  const preflight = await new Client({ origin }).call('OPTIONS', '/knowledge-bases', {
    headers: {
      origin: 'https://app.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,if-match,idempotency-key',
    },
  })
  t.equal(preflight.status, 204)
  t.equal(preflight.headers.get('access-control-allow-headers'), 'authorization,if-match,idempotency-key')
  t.match(preflight.headers.get('access-control-allow-methods'), 'PATCH')
  const cookieOnly = await new Client({ origin }).get('/me', { cookie: 'session=1; token=svc_tok' })
  t.equal(cookieOnly.body.error.code, 'missing_token')
})

t.test('an operator can name the origins that may call the API', async (t) => {
  const { signUp } = await sharedService({ CORS_ALLOWED_ORIGINS: 'https://a.example,https://b.example' })
  const client = await signUp()
  const allowed = await client.get('/me', { origin: 'https://b.example' })
  t.equal(allowed.headers.get('access-control-allow-origin'), 'https://b.example')
  t.match(allowed.headers.get('vary'), 'Origin')
  t.notOk((await client.get('/me', { origin: 'https://c.example' })).headers.get('access-control-allow-origin'))
})

t.test('a body that is no JSON object of an accepted type is refused with the reason', async (t) => {
  const { signUp } = await sharedService({ BODY_MAX_BYTES: '2048' })
  const client = await signUp()
  const send = (raw: string | Uint8Array, type = 'application/json') =>
    client.call('POST', '/knowledge-bases', { raw, headers: { 'content-type': type } })
  for (const raw of ['{', '{"name":}', 'null', '[]', '"x"', '1', '{"name":"x"} {}']) {
    t.match(await send(raw), { status: 400, body: { error: { code: 'invalid_json' } } }, raw)
  }
  const latin1 = await send(Buffer.from('{"name":"\u00e9"}', 'latin1'))
  t.match(latin1, { status: 400, body: { error: { code: 'invalid_json' } } }, 'nothing is stored as U+FFFD')
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/vnd.svc.document+json',
    'nonsense',
  ]) {
    const reply = await send('{"name":"x"}', type)
    t.match(reply, { status: 415, body: { error: { code: 'unsupported_media_type' } } }, type)
    t.same(reply.body.error.details, { accepted: ['application/json'] })
  }
  const large = await send(JSON.stringify({ name: 'x', padding: 'y'.repeat(2048) }))
  t.match(large, { status: 413, body: { error: { code: 'payload_too_large', details: { max_bytes: 2048 } } } })
  for (const charset of ['UTF-8', 'utf8', '"utf-8"', 'UTF8'])
    t.equal((await send('{"name":"x"}', `Application/JSON; charset=${charset}`)).status, 201, charset)
  for (const charset of ['utf-16', 'utf-16le', 'utf-7', 'latin1', 'nonsense']) {
    const refused = await send('{"name":"x"}', `application/json; charset=${charset}`)
    t.match(refused, { status: 415, body: { error: { message: new RegExp(`charset=${charset}`) } } }, charset)
  }
})

t.test('a large body is refused even when no length announces it', async (t) => {
  const { signUp } = await sharedService({ BODY_MAX_BYTES: '2048' })
  const { origin, token } = await signUp()
  const reply = await fetch(`${origin}/api/v1/knowledge-bases`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: Readable.toWeb(Readable.from(['{"name":"', 'x'.repeat(2048), '"}'])),
    duplex: 'half',
  })
  t.equal(reply.status, 413)
  t.match(await reply.json(), { error: { code: 'payload_too_large' } })
})

t.test('whoever has no token can send little, and an announced length is refused before it is sent', async (t) => {
  const { origin } = shared
  const refusal = { status: 413, body: { error: { code: 'payload_too_large', details: { max_bytes: 16_384 } } } }
  const nobody = new Client({ origin })
  const padded = (bytes: number) => `{"client_name":"x","padding":"${'y'.repeat(bytes - 35)}"}`
  for (const path of routes.filter(({ access }) => access === 'anyone').map((spec) => spec.path)) {
    t.match(await nobody.call('POST', path, { raw: padded(16_400) }), refusal, path)
    const head = ['Content-Type: application/json', 'Content-Length: 5000000']
    t.match(await rawAnswer(origin, [`POST /api/v1${path} HTTP/1.1`, ...head]), / 413 /, path)
  }
  t.equal((await nobody.call('POST', '/auth/device/code', { raw: padded(16_000) })).status, 200)
})

t.test('a body full of mistakes is answered with the first of them alone', async (t) => {
  const { signUp } = shared
  const client = await signUp()
  const { body, status, text } = await client.post('/documents', {
    title: 'x',
    collapsed_block_ids: Array.from({ length: 1000 }, () => 1),
  })
  t.equal(status, 400)
  t.equal(body.error.details.fields.length, 20)
  t.match(body.error.details.fields[0], { path: '/collapsed_block_ids/0' })
  t.ok(text.length < 5000)
})

t.test('a body that is nested without end is refused, wherever the nesting stands', async (t) => {
  const { signUp } = shared
  const client = await signUp()
  const levels = 100_000
  const nested = `${'['.repeat(levels)}${']'.repeat(levels)}`
  const objects = `${'{"name":'.repeat(levels)}1${'}'.repeat(levels)}`
  for (const raw of ['['.repeat(levels), `{"name":"x","unknown":${nested}}`, `{"__proto__":${nested}}`, objects]) {
    const reply = await client.call('POST', '/knowledge-bases', { raw, headers: { 'idempotency-key': 'deep' } })
    t.equal(reply.status, 400, reply.text.slice(0, 200))
    t.ok(reply.text.length < 1000)
  }
})

t.test(
  'an address where a path belongs is read for its path, and any other line is the mistake of the caller',
  async (t) => {
    const { origin, token } = await shared.signUp()
    const right = [
      'http://other/api/v1/me',
      `${origin}/api/v1/me?x=1`,
      'HTTPS://u:p@other:1/api/v1/me',
      'http://x/api/v1/./me',
    ]
    for (const target of right) {
      const answer = await rawAnswer(origin, [`GET ${target} HTTP/1.1`, `Authorization: Bearer ${token}`])
      t.match(answer, / 200 /, target)
    }
    const wrong = ['http:///', 'https://u:p@h:99999/api/v1/me', 'x:/api/v1/me', '*']
    for (const target of wrong) {
      for (const method of ['GET', 'OPTIONS']) {
        const answer = await rawAnswer(origin, [`${method} ${target} HTTP/1.1`, `Authorization: Bearer ${token}`])
        t.match(answer, / 400 /, `${method} ${target}`)
      }
    }
    for (const target of ['//other/api/v1/me', '//[/api/v1/me', '//', '/api/v1/documents/%', '/s/%ff', '/%']) {
      t.match(await rawAnswer(origin, [`GET ${target} HTTP/1.1`, `Authorization: Bearer ${token}`]), / 404 /, target)
    }
  },
)

t.test('members and parameters of the future are ignored', async (t) => {
  const { signUp } = shared
  const client = await signUp()
  const made = await client.post('/knowledge-bases?preview=1', { name: 'x', colour: 'red', nested: { a: [1] } })
  t.equal(made.status, 201)
  t.equal((await client.get('/knowledge-bases?colour=red&colour=blue')).status, 200)
})

t.test('a wrong query parameter is named, never guessed at', async (t) => {
  const { signUp } = shared
  const client = await signUp()
  const wrong = ['limit=0', 'limit=101', 'limit=x', 'limit=', 'limit=1.0', 'limit=1e1', 'limit=5&limit=5', 'limit=%00']
  for (const query of wrong) {
    const reply = await client.get(`/knowledge-bases?${query}`)
    t.match(reply, { status: 400, body: { error: { code: 'invalid_request' } } }, query)
    t.match(reply.body.error.details.fields[0], { path: '?limit', message: /^must/ })
  }
  t.equal((await client.get('/knowledge-bases?limit=100')).status, 200)
})

t.test('the first check that fails answers, in the order of the contract', async (t) => {
  const { origin, signUp } = await startTestService(t, { ...withModel, RATE_WRITE_PER_MIN: '1000' })
  const nobody = new Client({ origin })
  const reader = await signUp({ scopes: 'read_only' })
  const owner = await signUp()
  const stranger = await signUp()
  const { documentId, knowledgeBaseId } = await createFixture(owner)
  const content = `/documents/${documentId}/content`
  const plain = { headers: { 'content-type': 'text/plain' }, raw: 'x' }
  t.equal((await nobody.call('POST', '/nowhere', plain)).status, 404, '404 before 401')
  t.equal((await nobody.call('PUT', '/knowledge-bases', plain)).status, 405, '405 before 401')
  t.equal((await nobody.call('POST', '/knowledge-bases', plain)).status, 401, '401 before 415')
  t.equal((await reader.call('POST', '/knowledge-bases', plain)).status, 403, '403 before 415')
  t.equal((await owner.call('PUT', '/documents/doc_missing/content', plain)).status, 415, '415 before 404')
  t.equal(
    (await owner.get(`${content}?format=bad`, { accept: 'text/html', 'if-none-match': 'x' })).status,
    415,
    '415 before 400, also when it is the answer that cannot be had',
  )
  t.equal((await reader.get('/documents/doc_missing/content', { accept: 'text/html' })).status, 415)
  t.equal((await owner.put('/documents/doc_missing/content', {})).status, 400, '400 before 404')
  const bad = { format: 'tiptap-json', document: { type: 'nonsense' } }
  t.equal((await owner.put('/documents/doc_missing/content', bad)).status, 404, '404 before 428 and 422')
  t.equal((await stranger.put(content, bad)).status, 404, '404 before 403')
  t.equal((await owner.put(content, bad)).status, 428, '428 before 422')
  t.equal((await owner.put(content, bad, { 'if-match': '"sha256:0"' })).status, 409, '409 before 422')
  t.equal((await owner.put(content, bad, { 'if-match': '*' })).status, 422)
  const wrongKey = { 'idempotency-key': 'x'.repeat(129) }
  t.equal(
    (await owner.post('/folders', { name: 'x', knowledge_base_id: 999999 }, wrongKey)).status,
    400,
    '400 before 404',
  )
  const batch = { operations: [{ op: 'delete', block_id: 'x' }] }
  const malformed = '/documents/no-id/batch'
  t.equal((await owner.post(malformed, batch, wrongKey)).status, 400, '400 before the 404 of a malformed id')
  t.equal((await owner.post(malformed, batch, { 'if-match': 'x' })).status, 400)
  t.equal((await owner.post(malformed, batch)).status, 404)
  t.equal((await owner.patch(`/knowledge-bases/${knowledgeBaseId}`, { name: '' })).status, 400)
})

t.test('no answer tells which software it comes from, and browsers are told to be careful', async (t) => {
  const { signUp } = shared
  for (const path of ['/me', '/nowhere']) {
    const { headers } = await (await signUp()).get(path)
    t.notOk(headers.get('x-powered-by'))
    t.equal(headers.get('x-content-type-options'), 'nosniff')
    t.ok(headers.get('content-security-policy'))
    t.equal(headers.get('content-type'), 'application/json; charset=utf-8')
  }
})

t.test('a service behind TLS keeps browsers there, and one without it does not lock them out', async (t) => {
  const headersOf = async (origin: string) => {
    const { signUp } = await sharedService({ PUBLIC_ORIGIN: origin })
    const { headers } = await (await signUp()).get('/me')
    return {
      transport: headers.get('strict-transport-security'),
      upgrades: headers.get('content-security-policy')?.includes('upgrade-insecure-requests'),
    }
  }
  const behindTls = await headersOf('https://documents.example')
  t.ok(behindTls.transport)
  t.equal(behindTls.upgrades, true)
  t.strictSame(await headersOf('http://documents.example'), { transport: null, upgrades: false })
})

t.test('no cache keeps what belongs to one caller, a refusal as little as an answer', async (t) => {
  const { signUp } = shared
  const client = await signUp()
  for (const path of ['/me', '/documents/doc_missing']) {
    const { headers } = await client.get(path)
    t.equal(headers.get('cache-control'), 'private, no-cache', path)
    t.match(headers.get('vary'), 'Authorization', path)
  }
})

t.test('every accepted write is in the audit log with the client that made it', async (t) => {
  const { database, signUp } = await startTestService(t)
  const client = await signUp()
  await client.post('/knowledge-bases', { name: 'x' }, { 'user-agent': 'robot/1.2 (My Agent)', 'x-request-id': 'one' })
  await client.post('/knowledge-bases', { name: '' }, { 'x-request-id': 'refused' })
  await client.get('/knowledge-bases', { 'x-request-id': 'read' })
  const { rows } = await database.query(sql.unsafe`SELECT * FROM audit_log`)
  t.match(rows, [
    {
      request_id: 'one',
      token_id: client.token_id,
      user_id: client.user_id,
      method: 'POST',
      path: '/api/v1/knowledge-bases',
      client_name: 'My Agent',
      client_version: '1.2',
      is_agent: true,
    },
  ])
  t.equal(rows.length, 1)
})

// The raw answer to lines that no HTTP library would send, until the server pauses or closes the connection.
async function rawAnswer(origin: string, lines: readonly string[]): Promise<string> {
  const { port } = new URL(origin)
  const socket = connect(Number(port), '127.0.0.1')
  socket.write(`${[...lines, 'Host: 127.0.0.1', 'Connection: close'].join('\r\n')}\r\n\r\n`)
  const [first] = (await once(socket, 'data')) as [Buffer]
  socket.destroy()
  return first.toString()
}
