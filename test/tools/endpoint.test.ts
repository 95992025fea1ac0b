import { once } from 'node:events'
import { request } from 'node:http'
import fc from 'fast-check'
import { scopes } from '../../shared/auth/scopes.ts'
import { sql } from '../../shared/database/database.ts'
import { h, p } from '../document/build.ts'
import { make } from '../support/documents.ts'
import { connectMcp, textOf } from '../support/mcp.ts'
import { sharedService } from '../support/service.ts'
import { t } from '../support/tap.ts'

const { origin, signUp, database } = await sharedService({ CORS_ALLOWED_ORIGINS: 'https://agents.example' })

const accept = 'application/json, text/event-stream'
const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }

type Sent = { token?: string; body?: unknown; raw?: string; method?: string; headers?: Record<string, string> }

async function send({ token, body, raw, method = 'POST', headers = {} }: Sent) {
  const response = await fetch(`${origin}/mcp`, {
    method,
    headers: {
      'content-type': 'application/json',
      accept,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(method !== 'GET' && { body: raw ?? JSON.stringify(body ?? list) }),
  })
  const text = await response.text()
  const data = /^data: (.*)$/m.exec(text)?.[1] ?? text
  const parsed = data.startsWith('{') ? JSON.parse(data) : undefined
  return { status: response.status, headers: response.headers, text, body: parsed }
}

for (const era of ['modern', 'legacy'] as const) {
  t.test(`a client of the ${era} protocol lists the tools and learns for whom it works`, async (t) => {
    const ada = await signUp()
    const { client, call } = await connectMcp(t, { origin, token: ada.token, era })
    const { tools } = await client.listTools()
    t.ok(tools.length <= 16)
    t.match(client.getInstructions(), /data, never instructions/)
    const result = await call('whoami')
    t.match(result.structuredContent, { user: { id: String }, workspaces: [{ role: 'owner' }] })
    t.match(textOf(result), /Scopes of the token: .*documents:write/)
  })
}

t.test('without a valid token, a client learns where to get one, and cookies do not count', async (t) => {
  const metadata = 'http://localhost:3000/.well-known/oauth-protected-resource/mcp'
  const scope = `scope="${scopes.join(' ')}"`
  const without = await send({ headers: { cookie: 'session=anything' } })
  t.equal(without.status, 401)
  t.equal(without.headers.get('www-authenticate'), `Bearer realm="svc", resource_metadata="${metadata}", ${scope}`)
  t.match(without.body, { error: { code: 'missing_token' } })
  const wrong = await send({ token: `svc_tok_01J9Z3V5K8Q2W4E6R7T9Y1P3S5_${'x'.repeat(43)}` })
  t.equal(wrong.status, 401)
  const challenge = `Bearer realm="svc", error="invalid_token", resource_metadata="${metadata}", ${scope}`
  t.equal(wrong.headers.get('www-authenticate'), challenge)
})

t.test('other methods, types and origins are refused before anything is read', async (t) => {
  const { token } = await signUp()
  for (const method of ['GET', 'DELETE', 'PUT']) {
    const refused = await send({ token, method })
    t.equal(refused.status, 405)
    t.equal(refused.headers.get('allow'), 'POST, OPTIONS')
  }
  t.equal((await send({ token, headers: { 'content-type': 'text/plain' } })).status, 415)
  t.match(await send({ token, headers: { origin: 'https://evil.example' } }), { status: 403 })
  for (const allowed of ['https://agents.example', 'http://localhost:3000']) {
    t.equal((await send({ token, headers: { origin: allowed } })).status, 200)
  }
  const preflight = await send({
    method: 'OPTIONS',
    raw: '',
    headers: {
      origin: 'https://agents.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization, mcp-protocol-version, mcp-method',
    },
  })
  t.equal(preflight.status, 204)
  t.match(preflight.headers.get('access-control-allow-headers'), 'mcp-method')
  const { headers } = await send({ headers: { origin: 'https://agents.example' } })
  t.match(headers.get('access-control-expose-headers'), 'WWW-Authenticate')
})

t.test('a hostile message is refused, and never a failure of the service', async (t) => {
  const { token } = await signUp()
  const meta = (version: string) => ({
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  })
  const call = (args: unknown, name: unknown = 'edit') => ({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name, arguments: args },
  })
  const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
  const messages: [string, Sent, number][] = [
    ['no JSON', { raw: '{"jsonrpc"' }, 400],
    ['nothing', { raw: '' }, 400],
    ['null', { raw: 'null' }, 400],
    ['a number', { raw: '1' }, 400],
    ['a batch', { body: [list, list] }, 400],
    ['an empty batch', { body: [] }, 400],
    ['no JSON-RPC', { body: { hello: 1 } }, 400],
    ['a wrong JSON-RPC', { body: { ...list, jsonrpc: '1.0' } }, 400],
    ['deep JSON', { raw: deep(100_000) }, 400],
    ['deep arguments', { raw: JSON.stringify(call({ x: 0 })).replace('"x":0', `"x":${deep(50_000)}`) }, 400],
    ['an unknown method', { body: { ...list, method: 'tools/destroy' } }, 200],
    ['a prototype as tool', { body: call({}, '__proto__') }, 200],
    ['a list as arguments', { body: call([1, 2]) }, 200],
    ['a text as arguments', { body: call('x') }, 200],
    ['a number as tool', { body: call({}, 7) }, 200],
    ['a version of the future', { body: { ...list, params: { _meta: meta('2099-01-01') } } }, 400],
    ['a header against the body', { body: list, headers: { 'mcp-protocol-version': '2026-07-28' } }, 400],
    ['an unknown header version', { body: list, headers: { 'mcp-protocol-version': '1999-01-01' } }, 400],
    ['no event stream accepted', { headers: { accept: 'text/html' } }, 406],
    ['a key that is no text', { body: { ...list, params: { _meta: { 'svc/idempotency-key': 7 } } } }, 400],
    ['a key with a line feed', { body: { ...list, params: { _meta: { 'svc/idempotency-key': 'a\nb' } } } }, 400],
    ...[null, 7, 'x', []].map((notifications): [string, Sent, number] => [
      `a subscription to ${JSON.stringify(notifications)}`,
      { body: { ...list, method: 'subscriptions/listen', params: { notifications } } },
      200,
    ]),
    ...wrongInitializes.map((params): [string, Sent, number] => [
      `an initialize with ${JSON.stringify(params)}`,
      { body: { ...list, method: 'initialize', params } },
      200,
    ]),
    ['a posted response', { body: { jsonrpc: '2.0', id: 1, result: {} } }, 202],
    ['too much', { raw: JSON.stringify({ ...list, x: 'x'.repeat(1_100_000) }) }, 413],
  ]
  for (const [what, sent, status] of messages) {
    const answer = await send({ token, ...sent })
    t.equal(answer.status, status, `${what}: ${answer.text.slice(0, 200)}`)
    if (status === 200) t.ok(answer.body?.error !== undefined || answer.body?.result?.isError, what)
    t.not(answer.body?.error?.code, -32603, `${what}: no failure of the service`)
    if (what.startsWith('an initialize')) t.match(answer.body, { id: 1, error: { code: -32602 } }, what)
  }
  t.equal((await send({ token })).status, 200)
})

const clientInfo = { name: 'x', version: '1' }
const wrongInitializes = [
  { protocolVersion: 1, capabilities: {}, clientInfo },
  { protocolVersion: '2025-06-18', capabilities: {} },
  { protocolVersion: '2025-06-18', capabilities: 7, clientInfo },
  { protocolVersion: null, capabilities: {}, clientInfo: { name: 7 } },
  undefined,
]

t.test('a client that accepts anything, or says nothing of it, gets an answer', async (t) => {
  const { token } = await signUp()
  for (const accepted of ['*/*', 'application/*, text/*', 'application/json, */*;q=0.1', accept])
    t.equal((await send({ token, headers: { accept: accepted } })).status, 200, accepted)
  t.equal((await send({ token, headers: { accept: 'application/json;q=0, image/png' } })).status, 406)
})

t.test('a tool finds a document by its URI and by the address of its page, too', async (t) => {
  const ada = await signUp()
  const { call } = await connectMcp(t, { origin, token: ada.token })
  const { id } = await make(ada, [p('They fish.')])
  for (const named of [`svc://doc/${id}`, `/d/${id}`, `${origin}/d/${id}#block_1`, `https://kb.example/d/${id}?x=1`])
    t.match(
      (await call('read', { document_id: named })).structuredContent,
      { document_id: id, text: /They fish/ },
      named,
    )
  const other = await call('read', { document_id: `https://kb.example/other/${id}` })
  t.match(other.structuredContent, { error: { code: 'document_not_found' } })
})

t.test('a wrong Host in the request line is not believed', async (t) => {
  const { token } = await signUp()
  const { port } = new URL(origin)
  const sent = request({ port, host: '127.0.0.1', path: '/mcp', method: 'POST', setHost: false })
  for (const [name, value] of Object.entries({
    host: 'a b c',
    'content-type': 'application/json',
    accept,
    authorization: `Bearer ${token}`,
  })) {
    sent.setHeader(name, value)
  }
  sent.end(JSON.stringify(list))
  const [response] = await once(sent, 'response')
  t.equal(response.statusCode, 200)
  response.resume()
})

t.test('wrong arguments are told to the model, with what is allowed', async (t) => {
  const { token } = await signUp()
  const { call } = await connectMcp(t, { origin, token })
  const errorOf = async (name: string, args: object) =>
    ((await call(name, args)).structuredContent as { error: { details: { fields: object[] } } }).error
  t.match(await errorOf('search', {}), { code: 'invalid_request', details: { fields: [{ path: '/q' }] } })
  t.match(await errorOf('search', { query: 'x', q: 'x' }), {
    code: 'invalid_request',
    details: { fields: [{ path: '/query', message: /the arguments are q/ }] },
  })
  t.match(await errorOf('read', { document_id: 7 }), { details: { fields: [{ path: '/document_id' }] } })
  t.match(await errorOf('read', { document_id: 'doc_x', max_tokens: 1 }), {
    details: { fields: [{ path: '/max_tokens' }] },
  })
  t.match(await errorOf('edit', { document_id: 'x', edits: [{ op: 'replace', find: 'a' }] }), {
    details: { fields: [{ path: /edits/ }] },
  })
  t.match(await errorOf('job', { job_id: 'nothing' }), { code: 'job_not_found', next: String })
  await t.rejects(call('nonsense'), { code: -32602 })
})

t.test('a tool can do what its token and its role can do, and sees nothing of other workspaces', async (t) => {
  const ada = await signUp({ workspace: 'Herd' })
  const made = await make(ada, [h(1, 'Secret'), p('text')])
  const codeOf = async (token: string, name: string, args: object) => {
    const { call } = await connectMcp(t, { origin, token })
    const result = await call(name, args)
    return (result.structuredContent as { error?: { code: string } }).error?.code
  }
  const edits = [{ op: 'append', markdown: 'x' }]
  const reader = await signUp({ scopes: 'read_only' })
  const own = await make(ada, [p('own')])
  const viewer = await signUp({ workspace: 'Herd', role: 'viewer' })
  const stranger = await signUp()
  t.equal(await codeOf(reader.token, 'edit', { document_id: own.id, edits }), 'insufficient_scope')
  t.equal(await codeOf(viewer.token, 'read', { document_id: made.id }), undefined)
  t.equal(await codeOf(viewer.token, 'edit', { document_id: made.id, edits }), 'forbidden')
  for (const [name, args] of Object.entries({
    read: { document_id: made.id },
    edit: { document_id: made.id, edits },
    write: { document_id: made.id, content: 'x', base_version: made.version },
    history: { document_id: made.id },
    changes: { document_id: made.id },
  })) {
    t.equal(await codeOf(stranger.token, name, args), 'document_not_found', name)
  }
})

t.test('the audit log says which agent has written, and which token', async (t) => {
  const ada = await signUp()
  const made = await make(ada, [p('text')])
  const { call } = await connectMcp(t, { origin, token: ada.token })
  await call('edit', { document_id: made.id, edits: [{ op: 'append', markdown: 'x' }] })
  const entry = await database.one(sql.unsafe`
    SELECT action, client_name, client_version, is_agent FROM audit_log ORDER BY id DESC LIMIT 1`)
  t.match(entry, { action: 'editContent', client_name: 'Test agent', client_version: '1.2.3', is_agent: true })
})

t.test('calls of tools count against the limits of the routes, and say when to go on', async (t) => {
  for (const era of ['modern', 'legacy'] as const) {
    const limited = await sharedService({ RATE_WRITE_PER_MIN: '2', RATE_READ_PER_MIN: '1000' })
    const ada = await limited.signUp()
    const made = await make(ada, [p('text')])
    const { call } = await connectMcp(t, { origin: limited.origin, token: ada.token, era })
    const edits = [{ op: 'append', markdown: 'x' }]
    const first = await call('edit', { document_id: made.id, edits })
    t.notOk(first.isError, `${era}: ${textOf(first)}`)
    const refused = await call('edit', { document_id: made.id, edits })
    const error = { code: 'rate_limited', details: { bucket: 'write' }, next: /Wait \d+ s/ }
    t.match(refused.structuredContent, { error }, era)
  }
  const reads = await sharedService({ RATE_READ_PER_MIN: '3' })
  const eve = await reads.signUp()
  const statuses: number[] = []
  for (let index = 0; index < 4; index += 1) {
    const response = await fetch(`${reads.origin}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept, authorization: `Bearer ${eve.token}` },
      body: JSON.stringify(list),
    })
    await response.text()
    statuses.push(response.status)
    if (response.status === 429) t.match(response.headers.get('retry-after'), /^\d+$/)
    else t.equal(response.headers.get('x-ratelimit-limit'), '3')
  }
  t.strictSame(statuses, [200, 200, 200, 429])
})

t.test('no arguments of any tool are a failure of the service', async (t) => {
  const ada = await signUp()
  const made = await make(ada, [h(1, 'Water'), p('text')])
  const { knowledge_base_id } = (await ada.get(`/documents/${made.id}`)).body.data
  const { client, call } = await connectMcp(t, { origin, token: ada.token })
  const { tools } = await client.listTools()
  const value = fc.oneof(
    fc.constantFrom(made.id, knowledge_base_id, made.blocks[0]?.attrs.id, made.version, '*', '', 'list', 'rollback'),
    fc.constantFrom(
      null,
      true,
      0,
      -1,
      1e20,
      1.5,
      {},
      [],
      ['x'],
      '\u0000',
      '\ud800',
      'x'.repeat(5000),
      '__proto__',
      '"a"',
    ),
    fc.jsonValue({ maxDepth: 3 }),
  )
  const calls = fc.constantFrom(...tools).chain(({ name, inputSchema }) => {
    const properties = (inputSchema.properties ?? {}) as Record<string, { enum?: string[] }>
    const known = Object.entries(properties).map(([key, schema]) => {
      const words = fc.constantFrom(...(schema.enum ?? ['x']))
      return [key, schema.enum === undefined ? value : fc.oneof(words, words, words, value)] as const
    })
    return fc.record({ name: fc.constant(name), args: fc.record(Object.fromEntries(known), { requiredKeys: [] }) })
  })
  await fc.assert(
    fc.asyncProperty(calls, async ({ name, args }) => {
      const { structuredContent } = await call(name, name === 'job' ? { ...args, wait_seconds: 0 } : args)
      const { error } = structuredContent as { error?: { code: string } }
      return !['internal_error', 'service_unavailable'].includes(error?.code ?? '')
    }),
  )
})
