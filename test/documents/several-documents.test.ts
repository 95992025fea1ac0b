import Type from 'typebox'
import { sql } from '../../shared/database/database.ts'
import { row } from '../../shared/database/row.ts'
import { workersOf } from '../../workers/types.ts'
import { h, p } from '../document/build.ts'
import type { Client } from '../support/client.ts'
import { eventsOf, refused } from '../support/documents.ts'
import { queryString } from '../support/search.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { t } from '../support/tap.ts'
import { rewrite, startWorkers, untilFresh, write } from '../support/workers.ts'

const service = await startTestService(t)
const { signUp, database } = service
const AuditPath = row(Type.Object({ path: Type.String() }))

t.test('documents are read in the order of the request, each once, each as a single read answers it', async (t) => {
  const ada = await signUp()
  const bodies = { a: '# One\n\nfirst', b: 'second *text*', c: [h(1, 'Three'), p('third')] }
  const ids: string[] = []
  for (const body of Object.values(bodies)) ids.push((await write(ada, body)).id)
  const [a = '', b = '', c = ''] = ids
  for (const view of ['markdown', 'plain-text', 'tiptap-json', 'outline']) {
    const { status, text, body } = await ada.post('/documents/read', { ids: [c, a, 'doc_nowhere', b, a], view })
    t.equal(status, 200, text)
    t.strictSame(idsOf(body), [c, a, 'doc_nowhere', b], view)
    t.strictSame(body.data[2], {
      id: 'doc_nowhere',
      error: { code: 'document_not_found', message: 'Document not found.' },
    })
    for (const item of [body.data[0], body.data[1], body.data[3]]) {
      const single = (await ada.get(`/documents/${item.id}/read?view=${view}`)).body.data
      t.match(item, { ...single, max_tokens: 4000 }, `${view} of ${item.id}`)
    }
  }
  const { body } = await ada.post('/documents/read', { ids })
  t.strictSame(
    body.data.map((item: { view: string }) => item.view),
    ['markdown', 'markdown', 'markdown'],
    'Markdown by default',
  )
})

t.test('every item says which derived results lag behind the version that it shows', async (t) => {
  const own = await startTestService(t)
  const ada = await own.signUp()
  const { id } = await write(ada, 'first')
  const freshness = async () => (await ada.post('/documents/read', { ids: [id] })).body.data[0].freshness
  t.strictSame(await freshness(), { search: 'missing', changes: 'missing', relations: 'missing', summary: 'missing' })

  const workers = await startWorkers(t, own, workersOf(['search', 'changes', 'relations', 'events']))
  await untilFresh(ada)
  await until(async () => Object.values(await freshness()).filter((state) => state === 'current').length === 3)
  await ada.post(`/documents/${id}/summary/rebuild`, {})
  t.strictSame(await freshness(), { search: 'current', changes: 'current', relations: 'current', summary: 'current' })

  await workers.stop()
  const version = await rewrite(ada, id, 'second')
  t.strictSame(await freshness(), { search: 'stale', changes: 'stale', relations: 'stale', summary: 'stale' })
  t.equal((await ada.post('/documents/read', { ids: [id] })).body.data[0].version, version)
})

t.test('the tokens are shared evenly, and a cut document can be read on', async (t) => {
  const ada = await signUp()
  const long = Array.from({ length: 60 }, (_, n) => p(`${n}${' word'.repeat(20)}`))
  const { id: first } = await write(ada, long)
  const { id: second } = await write(ada, long)
  const { id: small } = await write(ada, 'short')
  const read = { ids: [first, small, second], view: 'plain-text', max_tokens: 900 }
  const { body } = await ada.post('/documents/read', read)
  const [cut, whole, other] = body.data
  t.match(whole, { truncated: false, has_more: false, next_cursor: null, max_tokens: 300, content: 'short' })
  for (const item of [cut, other]) {
    t.match(item, { truncated: true, has_more: true, max_tokens: 300 })
    t.ok(item.estimated_tokens > 200 && item.estimated_tokens <= 300, `${item.estimated_tokens} tokens`)
  }
  t.equal(await readOn(ada, cut), long.map(({ content }) => content?.[0]?.text).join('\n\n'))

  const hundred = [...Array.from({ length: 99 }, (_, n) => `doc_gone${n}`), first]
  const least = await ada.post('/documents/read', { ids: hundred, max_tokens: 64 })
  t.equal(least.body.data.at(-1).max_tokens, 64, 'a document never has less')
  const most = await ada.post('/documents/read', { ids: [first], max_tokens: 400_000 })
  t.match(most.body.data[0], { max_tokens: 50_000, truncated: false })

  const headings = Array.from({ length: 80 }, (_, n) => h(1, `Heading ${n}`))
  const { id: outlined } = await write(ada, headings)
  const outline = await ada.post('/documents/read', { ids: [outlined, small], view: 'outline', max_tokens: 2000 })
  const [{ sections, truncated, estimated_tokens }, empty] = outline.body.data
  t.ok(truncated && sections.length > 5 && sections.length < 80, `${sections.length} sections`)
  t.ok(estimated_tokens <= 1000)
  t.match(empty, { sections: [], truncated: false })
})

t.test('a read is no write: viewers may do it, it counts as a read, and it leaves nothing in the audit', async (t) => {
  const limited = await startTestService(t, { RATE_READ_PER_MIN: '10', RATE_WRITE_PER_MIN: '7' })
  const owner = await limited.signUp({ workspace: 'Shared' })
  const viewer = await limited.signUp({ workspace: 'Shared', role: 'viewer', scopes: 'read_only' })
  const { id } = await write(owner, 'text')
  const reply = await viewer.post('/documents/read', { ids: [id] })
  t.match(reply, { status: 200, body: { data: [{ id, content: 'text\n' }] } })
  t.equal(reply.headers.get('x-ratelimit-limit'), '10')
  t.equal(reply.headers.get('x-ratelimit-remaining'), '9')
  const paths = await limited.database.anyFirst(sql.type(AuditPath)`SELECT path FROM audit_log`)
  t.strictSame(paths, ['/api/v1/documents'])
})

t.test('a repeated read with a key gets the first answer, and no answer of two workspaces is kept', async (t) => {
  const ada = await signUp()
  const { id } = await write(ada, 'first')
  const key = { 'idempotency-key': 'a' }
  const first = await ada.post('/documents/read', { ids: [id] }, key)
  await rewrite(ada, id, 'second')
  const again = await ada.post('/documents/read', { ids: [id] }, key)
  t.equal(again.headers.get('idempotent-replayed'), 'true')
  t.strictSame(again.body.data, first.body.data)
  refused(t, await ada.post('/documents/read', { ids: ['doc_x'] }, key), {
    status: 409,
    code: 'idempotency_key_reused',
  })

  const both = await signUp({ email: 'both@example.test', workspace: 'Left' })
  await signUp({ email: 'both@example.test', workspace: 'Right' })
  const { id: left } = await write(both, 'left')
  const right = await signUp({ workspace: 'Right' })
  const { id: other } = await write(right, 'right', { knowledge_base_id: await baseOf(right) })
  const ids = [left, other]
  const mixed = await both.post('/documents/read', { ids }, key)
  t.strictSame(idsOf(mixed.body), ids)
  t.notOk(mixed.body.data.some((item: object) => 'error' in item))
  const repeated = await both.post('/documents/read', { ids }, key)
  t.equal(repeated.headers.get('idempotent-replayed'), null)
})

t.test('documents move together to a folder or to the root of a knowledge base', async (t) => {
  const ada = await signUp()
  const base = await baseOf(ada)
  const folder = (await ada.post('/folders', { name: 'Folder', knowledge_base_id: base })).body.data.id
  const other = (await ada.post('/knowledge-bases', { name: 'Other' })).body.data.id
  const ids: string[] = []
  for (const text of ['a', 'b', 'c']) ids.push((await write(ada, text, { knowledge_base_id: base })).id)
  const [a = '', b = '', c = ''] = ids
  const moved = await ada.post('/documents/move', { ids: [b, a, b], folder_id: folder })
  t.match(moved, { status: 200, body: { data: { ids: [b, a] } } }, moved.text)
  t.strictSame(await locations(ada, ids), [
    [base, folder],
    [base, folder],
    [base, null],
  ])

  const before = (await ada.get(`/documents/${a}`)).body.data.updated_at
  await ada.post('/documents/move', { ids, folder_id: String(folder), knowledge_base_id: base })
  t.equal((await ada.get(`/documents/${a}`)).body.data.updated_at, before, 'who is there already does not change')
  t.strictSame(await eventsOf(database, a), ['document.created', 'document.metadata.updated'])
  t.strictSame(await eventsOf(database, c), ['document.created', 'document.metadata.updated'])

  await ada.post('/documents/move', { ids: [c, a], knowledge_base_id: other })
  t.strictSame(await locations(ada, ids), [
    [other, null],
    [base, folder],
    [other, null],
  ])
  t.equal((await ada.get(`/documents/${c}`)).body.data.updated_by, ada.user_id)
})

t.test('moved documents are found in their new knowledge base, not in their old one', async (t) => {
  const own = await startTestService(t)
  await startWorkers(t, own, workersOf(['search', 'events']))
  const ada = await own.signUp()
  const from = await baseOf(ada)
  const to = (await ada.post('/knowledge-bases', { name: 'To' })).body.data.id
  const ids: string[] = []
  for (let n = 0; n < 3; n += 1) ids.push((await write(ada, 'giraffe', { knowledge_base_id: from })).id)
  await untilFresh(ada)
  await ada.post('/documents/move', { ids: ids.slice(0, 2), knowledge_base_id: to })
  await untilFresh(ada)
  const found = async (base: number) => {
    const { body } = await ada.get(`/search/v2?${queryString({ q: 'giraffe', knowledge_base_id: base })}`)
    return body.data.results.map((hit: { document_id: string }) => hit.document_id).sort()
  }
  t.strictSame(await found(to), ids.slice(0, 2).sort())
  t.strictSame(await found(from), ids.slice(2))
})

t.test('documents are deleted together', async (t) => {
  const ada = await signUp()
  const ids: string[] = []
  for (const text of ['a', 'b', 'c']) ids.push((await write(ada, text)).id)
  const [a = '', b = '', c = ''] = ids
  const key = { 'idempotency-key': 'gone' }
  const reply = await ada.post('/documents/delete', { ids: [b, a, b] }, key)
  t.match(reply, { status: 204, text: '' })
  for (const id of [a, b]) {
    t.equal((await ada.get(`/documents/${id}`)).status, 404)
    t.strictSame(await eventsOf(database, id), ['document.created', 'document.deleted'])
  }
  t.equal((await ada.get(`/documents/${c}`)).status, 200)
  t.equal((await ada.post('/documents/delete', { ids: [b, a, b] }, key)).status, 204, 'a repetition with the key')
  refused(t, await ada.post('/documents/delete', { ids: [b, a, b] }), {
    status: 422,
    code: 'documents_unavailable',
    details: { ids: [b, a] },
  })
})

t.test('documents of two workspaces are deleted together, and a repetition with a key is answered', async (t) => {
  const both = await signUp({ email: 'sweeper@example.test', workspace: 'Here' })
  await signUp({ email: 'sweeper@example.test', workspace: 'There' })
  const there = await signUp({ workspace: 'There' })
  const { id: near } = await write(both, 'near', { knowledge_base_id: await baseOf(both) })
  const { id: far } = await write(there, 'far', { knowledge_base_id: await baseOf(there) })
  const key = { 'idempotency-key': 'both' }
  for (const attempt of ['first', 'repeated']) {
    t.equal((await both.post('/documents/delete', { ids: [far, near] }, key)).status, 204, attempt)
  }
  for (const id of [near, far]) t.strictSame(await eventsOf(database, id), ['document.created', 'document.deleted'])
})

t.test('if one document is missing, nothing is moved and nothing is deleted', async (t) => {
  const ada = await signUp()
  const eve = await signUp()
  const base = await baseOf(ada)
  const folder = (await ada.post('/folders', { name: 'Folder', knowledge_base_id: base })).body.data.id
  const { id } = await write(ada, 'mine', { knowledge_base_id: base })
  const { id: foreign } = await write(eve, 'hers')
  const ids = ['doc_nowhere', id, foreign, 'no document']
  const unavailable = {
    status: 422,
    code: 'documents_unavailable',
    details: { ids: ['doc_nowhere', foreign, 'no document'] },
  }
  refused(t, await ada.post('/documents/move', { ids, folder_id: folder }), unavailable)
  refused(t, await ada.post('/documents/delete', { ids }), unavailable)
  t.strictSame(await locations(ada, [id]), [[base, null]])
  t.strictSame(await eventsOf(database, id), ['document.created'])
  t.strictSame(await eventsOf(database, foreign), ['document.created'])
  t.equal((await eve.get(`/documents/${foreign}`)).status, 200)
})

t.test('a move is refused when its place is missing, foreign, contradictory or in another workspace', async (t) => {
  const both = await signUp({ email: 'mover@example.test', workspace: 'From' })
  await signUp({ email: 'mover@example.test', workspace: 'Elsewhere' })
  const elsewhere = await signUp({ workspace: 'Elsewhere' })
  const eve = await signUp()
  const base = await baseOf(both)
  const folder = (await both.post('/folders', { name: 'Folder', knowledge_base_id: base })).body.data.id
  const other = (await both.post('/knowledge-bases', { name: 'Other' })).body.data.id
  const { id } = await write(both, 'text', { knowledge_base_id: base })
  const move = (place: object) => both.post('/documents/move', { ids: [id, 'doc_nowhere'], ...place })
  const details = { fields: [{ path: '/knowledge_base_id', message: 'is required unless folder_id names a folder' }] }
  refused(t, await move({}), { status: 400, code: 'invalid_request', details })
  t.match(await move({ folder_id: null }), { status: 400, body: { error: { code: 'invalid_request' } } })
  refused(t, await move({ folder_id: folder, knowledge_base_id: other }), {
    status: 400,
    code: 'folder_knowledge_base_mismatch',
  })
  const hers = await baseOf(eve)
  refused(t, await move({ knowledge_base_id: hers }), {
    status: 404,
    code: 'knowledge_base_not_found',
    details: { id: hers, field: 'knowledge_base_id' },
  })
  refused(t, await move({ folder_id: 999_999 }), {
    status: 404,
    code: 'folder_not_found',
    details: { id: 999_999, field: 'folder_id' },
  })
  refused(t, await move({ knowledge_base_id: await baseOf(elsewhere) }), { status: 400, code: 'cross_workspace_move' })
  t.strictSame(await locations(both, [id]), [[base, null]])
})

t.test('viewers and tokens without the scope change nothing', async (t) => {
  const owner = await signUp({ workspace: 'Guarded' })
  const viewer = await signUp({ workspace: 'Guarded', role: 'viewer' })
  const reader = await signUp({ workspace: 'Guarded', scopes: ['documents:read'] })
  const writer = await signUp({ workspace: 'Guarded', scopes: ['documents:write'] })
  const base = await baseOf(owner)
  const { id } = await write(owner, 'text', { knowledge_base_id: base })
  const other = (await owner.post('/knowledge-bases', { name: 'Other' })).body.data.id
  const forbidden = { status: 403, code: 'forbidden', details: { required_role: 'editor' } }
  const scope = (name: string) => ({ status: 403, code: 'insufficient_scope', details: { required_scopes: [name] } })
  const move = { ids: [id], knowledge_base_id: other }
  refused(t, await viewer.post('/documents/move', move), forbidden)
  refused(t, await viewer.post('/documents/delete', { ids: [id, 'doc_nowhere'] }), forbidden)
  refused(t, await reader.post('/documents/move', move), scope('documents:write'))
  refused(t, await reader.post('/documents/delete', { ids: [id] }), scope('documents:write'))
  refused(t, await writer.post('/documents/read', { ids: [id] }), scope('documents:read'))
  t.strictSame(await locations(owner, [id]), [[base, null]])
})

t.test('a request says at once what is allowed in it', async (t) => {
  const ada = await signUp()
  const many = Array.from({ length: 101 }, (_, n) => `doc_${n}`)
  const wrong: [string, object, string][] = [
    ['read', {}, '/ids'],
    ['read', { ids: [] }, '/ids'],
    ['read', { ids: many }, '/ids'],
    ['read', { ids: 'doc_1' }, '/ids'],
    ['read', { ids: ['doc_1', 7] }, '/ids/1'],
    ['read', { ids: ['a\u0000'] }, '/ids/0'],
    ['read', { ids: ['x'.repeat(201)] }, '/ids/0'],
    ['read', { ids: ['doc_1'], view: 'html' }, '/view'],
    ['read', { ids: ['doc_1'], max_tokens: 63 }, '/max_tokens'],
    ['read', { ids: ['doc_1'], max_tokens: 400_001 }, '/max_tokens'],
    ['move', { ids: many, folder_id: 1 }, '/ids'],
    ['move', { ids: ['doc_1'], folder_id: 'x' }, '/folder_id'],
    ['delete', { ids: [] }, '/ids'],
    ['delete', { ids: many }, '/ids'],
  ]
  for (const [action, body, path] of wrong) {
    const reply = await ada.post(`/documents/${action}`, body)
    t.match(reply, { status: 400, body: { error: { code: 'invalid_request' } } }, `${action} ${path}: ${reply.text}`)
    const [field] = reply.body.error.details.fields
    t.equal(field.path, path)
    t.ok(field.message)
  }
  t.match(await ada.get('/documents/read'), { status: 405 })
  t.equal((await ada.patch('/documents/move', {})).status, 405)
})

function idsOf(body: { data: { id: string }[] }): string[] {
  return body.data.map(({ id }) => id)
}

/** The whole text of a cut item: its content, and then what its cursor leads to. */
async function readOn(
  client: Client,
  item: { id: string; content: string; next_cursor: string | null; max_tokens: number },
) {
  const parts = [item.content.trim()]
  for (let cursor = item.next_cursor; cursor !== null; ) {
    const query = queryString({ view: 'plain-text', max_tokens: item.max_tokens, cursor })
    const { status, text, body } = await client.get(`/documents/${item.id}/read?${query}`)
    if (status !== 200) throw new Error(text)
    parts.push(body.data.content.trim())
    cursor = body.data.next_cursor
  }
  return parts.join('\n\n')
}

async function baseOf(client: Client): Promise<number> {
  const { body } = await client.get('/knowledge-bases')
  return body.data[0]?.id ?? (await client.post('/knowledge-bases', { name: 'Base' })).body.data.id
}

async function locations(client: Client, ids: readonly string[]): Promise<[number, number | null][]> {
  const replies = await Promise.all(ids.map((id) => client.get(`/documents/${id}`)))
  return replies.map(({ body }) => [body.data.knowledge_base_id, body.data.folder_id])
}
