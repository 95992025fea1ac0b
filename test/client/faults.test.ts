import fc from 'fast-check'
import { KnowledgeBase, KnowledgeBaseError } from '../../shared/client/client.ts'
import { type Fault, startFaultyProxy } from '../support/faulty-proxy.ts'
import { runsTimes } from '../support/runs.ts'
import { sharedService } from '../support/service.ts'
import { t } from '../support/tap.ts'

const { origin, signUp } = await sharedService()

/** A client that reaches the service through a faulty proxy, and that hardly waits between two attempts. */
async function connect(t: Parameters<typeof startFaultyProxy>[0], maxRetries = 8) {
  const { token } = await signUp()
  const proxy = await startFaultyProxy(t, origin)
  return { proxy, kb: new KnowledgeBase({ origin: proxy.origin, token, maxRetries, maxRetryDelay: 20 }) }
}

const transient = fc.constantFrom<Fault | null>(
  null,
  { kind: 'cut-before' },
  { kind: 'cut-after' },
  { kind: 'cut-within', bytes: 20 },
  { kind: 'answer', status: 502 },
  { kind: 'answer', status: 503, headers: { 'retry-after': '0' } },
  { kind: 'answer', status: 504 },
)

t.test('whatever the network does, every write of a program happens once', async (t) => {
  const { kb, proxy } = await connect(t)
  const { data: base } = await kb.api.POST('/knowledge-bases', { body: { name: 'Zoo' } })
  await fc.assert(
    fc.asyncProperty(fc.array(transient, { maxLength: 6 }), async (faults) => {
      proxy.choose = () => faults.shift() ?? null
      const { data: made } = await kb.api.POST('/documents', {
        body: { title: 'one', knowledge_base_id: base.id, content: { format: 'markdown', content: 'first' } },
      })
      const { data: written } = await kb.api.POST('/documents/{id}/content/edit', {
        params: { path: { id: made.id } },
        body: { edits: [{ op: 'append', markdown: 'second' }] },
      })
      t.not(written.version, made.version)
      proxy.choose = () => null
      const titles: string[] = []
      for await (const { id } of kb.items('/documents', { params: { query: { knowledge_base_id: base.id } } }))
        titles.push(id)
      t.strictSame(titles, [made.id], 'there is one document')
      const query = { format: 'markdown' as const }
      const { data } = await kb.api.GET('/documents/{id}/content', { params: { path: { id: made.id }, query } })
      t.equal(data.content, 'first\n\nsecond\n')
      await kb.api.DELETE('/documents/{id}', { params: { path: { id: made.id } } })
    }),
    runsTimes(1 / 4),
  )
})

t.test('a request that the network doubles makes one document', async (t) => {
  const { token } = await signUp()
  const proxy = await startFaultyProxy(t, origin)
  const kb = new KnowledgeBase({ origin: proxy.origin, token })
  const { data: base } = await kb.api.POST('/knowledge-bases', { body: { name: 'Zoo' } })
  proxy.choose = () => ({ kind: 'duplicate' })
  const { data: made } = await kb.api.POST('/documents', { body: { title: 'one', knowledge_base_id: base.id } })
  const { data: listed } = await kb.api.GET('/documents', { params: { query: { knowledge_base_id: base.id } } })
  t.strictSame(
    listed.map(({ id }) => id),
    [made.id],
  )
})

t.test('a repeated call never overwrites what others have written since', async (t) => {
  const { kb, proxy } = await connect(t)
  const markdown = (content: string) => ({ format: 'markdown' as const, content })
  const { data: made } = await kb.api.POST('/documents', { body: { title: 'one', content: markdown('first') } })
  const path = { id: made.id }
  const writes = [
    () =>
      kb.api.PATCH('/documents/{id}', {
        params: { path, header: { 'If-Match': made.version } },
        body: { title: 'mine' },
      }),
    () =>
      kb.api.PUT('/documents/{id}/content', { params: { path, header: { 'If-Match': '*' } }, body: markdown('mine') }),
  ]
  for (const write of writes) {
    const before = proxy.seen.length
    proxy.choose = ({ method }) => (method === 'PATCH' || method === 'PUT' ? { kind: 'cut-after' } : null)
    t.match(await write().catch((error) => error), { code: 'connection_failed', outcomeUnknown: true })
    t.equal(proxy.seen.length, before + 1)
  }
})

t.test('a PATCH without a guard is not repeated, since it could overwrite what others write meanwhile', async (t) => {
  const { kb, proxy } = await connect(t)
  const { data: made } = await kb.api.POST('/documents', { body: { title: 'one' } })
  proxy.choose = ({ method }) => (method === 'PATCH' ? { kind: 'cut-after' } : null)
  const params = { path: { id: made.id } }
  const error = await kb.api.PATCH('/documents/{id}', { params, body: { title: 'two' } }).catch((error) => error)
  t.type(error, KnowledgeBaseError)
  t.match(error, { code: 'connection_failed', status: undefined, outcomeUnknown: true })
  t.equal(proxy.seen.filter(({ method }) => method === 'PATCH').length, 1)
  // A refusal tells that nothing has happened, so the same call may be repeated then.
  let refused = 0
  proxy.choose = () => (refused++ < 2 ? { kind: 'answer', status: 429, headers: { 'retry-after': '0' } } : null)
  t.equal((await kb.api.PATCH('/documents/{id}', { params, body: { title: 'three' } })).data.title, 'three')
})

t.test('a guarded write whose answer was lost says so when its repetition is a conflict', async (t) => {
  const { kb, proxy } = await connect(t)
  const content = { format: 'markdown' as const, content: 'first' }
  const { data: made } = await kb.api.POST('/documents', { body: { title: 'one', content } })
  let cuts = 0
  proxy.choose = ({ method }) => (method === 'PUT' && cuts++ === 0 ? { kind: 'cut-after' } : null)
  const params = { path: { id: made.id }, header: { 'If-Match': made.version } }
  const call = kb.api.PUT('/documents/{id}/content', { params, body: { format: 'markdown', content: 'second' } })
  await t.rejects(call, { code: 'version_conflict', status: 409, outcomeUnknown: true })
  const again = kb.api.PUT('/documents/{id}/content', { params, body: { format: 'markdown', content: 'third' } })
  await t.rejects(again, { code: 'version_conflict', outcomeUnknown: false })
})

t.test('repetitions end: by number, by the signal of the caller, and when the service asks for too long', async (t) => {
  const { kb, proxy } = await connect(t, 3)
  proxy.choose = () => ({ kind: 'answer', status: 503 })
  await t.rejects(kb.api.GET('/me'), { status: 503, code: 'unexpected_answer', outcomeUnknown: false })
  t.equal(proxy.seen.length, 4)
  proxy.choose = () => ({ kind: 'answer', status: 429, headers: { 'retry-after': '3600' } })
  await t.rejects(kb.api.GET('/me'), { code: 'unexpected_answer', retryAfter: 3600 })
  t.equal(proxy.seen.length, 5)
  proxy.choose = () => ({ kind: 'delay', ms: 60_000 })
  const reason = new Error('enough')
  await t.rejects(kb.api.GET('/me', { signal: AbortSignal.abort(reason) }), reason)
  t.equal(proxy.seen.length, 5, 'an aborted call sends nothing')
  const control = new AbortController()
  const call = kb.api.GET('/me', { signal: control.signal })
  setTimeout(() => control.abort(reason), 50)
  await t.rejects(call, reason)
  await t.rejects(kb.api.GET('/me', { timeout: 50, maxRetries: 0 }), { code: 'timeout', status: undefined })
})

t.test('what is no answer of the service is never taken for one', async (t) => {
  const { kb, proxy } = await connect(t, 0)
  const page = { 'content-type': 'text/html' }
  for (const fault of [
    { kind: 'answer', status: 200, headers: page, text: '<h1>Sign in to the network</h1>' },
    { kind: 'answer', status: 200, headers: { 'content-type': 'application/json' }, text: '{"data": ' },
    { kind: 'answer', status: 500, headers: page, text: '<h1>Error</h1>' },
  ] as const) {
    proxy.choose = () => fault
    await t.rejects(kb.api.GET('/me'), { code: 'unexpected_answer', status: fault.status })
  }
  const elsewhere = { location: 'https://elsewhere.example/' }
  proxy.choose = () => ({ kind: 'answer', status: 302, headers: elsewhere })
  await t.rejects(kb.api.GET('/me'), { code: 'redirected', status: 302 })
})

t.test('a refusal has its code, its details and the id by which the operator finds it', async (t) => {
  const { kb } = await connect(t)
  const error = await kb.api.POST('/documents', { body: { title: '' } }).catch((error) => error)
  t.match(error, { code: 'invalid_request', status: 400, details: { fields: [{ path: '/title' }] } })
  t.match(error.requestId, /^req_/)
  t.match(error.message, /^POST \/api\/v1\/documents: 400 invalid_request: /)
})

t.test('no message of an error has a secret in it', async (t) => {
  const secret = 'svc_tok_secret'
  const attempts: (() => unknown)[] = [
    () => new KnowledgeBase({ origin, token: `${secret}\n` }),
    () => new KnowledgeBase({ origin: `http://name:${secret}@localhost`, token: secret }),
    () => new KnowledgeBase({ origin: secret, token: secret }),
    () => new KnowledgeBase({ origin: 'http://127.0.0.1:1', token: secret, maxRetries: 0 }).api.GET('/me'),
    () => new KnowledgeBase({ origin, token: () => `${secret}\n` }).api.GET('/me'),
    () => new KnowledgeBase({ origin, token: secret }).api.GET('/me'),
  ]
  for (const attempt of attempts) {
    const error = await Promise.resolve()
      .then(attempt)
      .then(
        () => null,
        (error: Error) => error,
      )
    t.type(error, Error)
    const cause = error?.cause instanceof Error ? error.cause.stack : null
    t.notMatch(JSON.stringify([error, error?.message, error?.stack, cause]), secret)
  }
})
