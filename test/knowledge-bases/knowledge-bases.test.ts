import { sql } from '../../shared/database/database.ts'
import { startTestService } from '../support/service.ts'
import { t } from '../support/tap.ts'

const shared = await startTestService(t)

t.test('a knowledge base is created, read, renamed and deleted', async (t) => {
  const { signUp } = shared
  const ada = await signUp()

  const created = await ada.post('/knowledge-bases', { name: '  Docs  ', unknown: 1 })
  t.equal(created.status, 201)
  const { id } = created.body.data
  t.equal(created.headers.get('location'), `/api/v1/knowledge-bases/${id}`)
  t.match(created.body.data, { id: Number, workspace_id: /^ws_/, name: 'Docs', document_count: 0, folder_count: 0 })
  t.match(created.body.data.created_by, /^usr_/)
  t.equal(created.body.data.created_at, created.body.data.updated_at)

  const read = await ada.get(`/knowledge-bases/${id}`)
  t.strictSame(read.body.data, created.body.data)

  const renamed = await ada.patch(`/knowledge-bases/${id}`, { name: ' Guides ' })
  t.match(renamed, { status: 200, body: { data: { id, name: 'Guides' } } })
  t.ok(renamed.body.data.updated_at >= created.body.data.updated_at)
  const again = await ada.patch(`/knowledge-bases/${id}`, { name: 'Guides' })
  t.equal(again.body.data.updated_at, renamed.body.data.updated_at, 'the same name again changes nothing')

  t.equal((await ada.delete(`/knowledge-bases/${id}`, { confirm_id: id })).status, 204)
  t.match(await ada.get(`/knowledge-bases/${id}`), {
    status: 404,
    body: { error: { code: 'knowledge_base_not_found', details: { id } } },
  })
})

t.test('names are held to 1 to 200 characters after trimming', async (t) => {
  const { signUp } = shared
  const ada = await signUp()
  const { body } = await ada.post('/knowledge-bases', { name: '𝔸'.repeat(200) })
  t.equal([...body.data.name].length, 200)
  for (const name of ['', '   ', 'x'.repeat(201), 5, null, 'a\u0000b', '\ud800']) {
    const refused = await ada.post('/knowledge-bases', { name })
    t.match(refused, {
      status: 400,
      body: { error: { code: 'invalid_request', details: { fields: [{ path: '/name' }] } } },
    })
    t.equal((await ada.patch(`/knowledge-bases/${body.data.id}`, { name })).status, 400)
  }
  t.equal((await ada.patch(`/knowledge-bases/${body.data.id}`, {})).status, 400)
})

t.test('a knowledge base goes only to those who repeat its id, in the body or in the query', async (t) => {
  const { signUp } = shared
  const ada = await signUp()
  const create = async () => (await ada.post('/knowledge-bases', { name: 'Docs' })).body.data.id
  const id = await create()

  t.match(await ada.delete(`/knowledge-bases/${id}`), {
    status: 400,
    body: { error: { code: 'invalid_request', details: { fields: [{ path: '/confirm_id' }] } } },
  })
  for (const confirm_id of [id + 1, 'Docs', `0${id}`, `${id}.0`]) {
    const refused = await ada.delete(`/knowledge-bases/${id}`, { confirm_id })
    t.match(refused, { status: 400, body: { error: { code: 'confirm_id_mismatch' } } })
  }
  t.equal((await ada.delete(`/knowledge-bases/${id}`, { confirm_id: null })).status, 400)
  t.equal((await ada.delete(`/knowledge-bases/${id}?confirm_id=${id + 1}`, { confirm_id: id })).status, 400)
  t.equal((await ada.get(`/knowledge-bases/${id}`)).status, 200, 'it is still there')

  t.equal((await ada.delete(`/knowledge-bases/${id}`, { confirm_id: String(id) })).status, 204)
  const second = await create()
  t.equal((await ada.delete(`/knowledge-bases/${second}?confirm_id=${second}`)).status, 204)
  t.match(await ada.delete(`/knowledge-bases/${second}?confirm_id=${second}`), { status: 404 })
  t.not(await create(), second, 'ids never come back')
})

t.test('the list pages through every visible knowledge base once, by id', async (t) => {
  const { signUp } = shared
  const ada = await signUp()
  const ids: number[] = []
  for (const name of ['c', 'a', 'b']) ids.push((await ada.post('/knowledge-bases', { name })).body.data.id)

  const first = await ada.get('/knowledge-bases?limit=2')
  t.strictSame(
    first.body.data.map((base: { id: number }) => base.id),
    ids.slice(0, 2),
  )
  t.match(first.body.page, { cursor: null, next_cursor: String, has_more: true })
  const cursor = first.body.page.next_cursor
  const second = await ada.get(`/knowledge-bases?limit=2&cursor=${cursor}`)
  t.strictSame(
    second.body.data.map((base: { id: number }) => base.id),
    ids.slice(2),
  )
  t.strictSame(second.body.page, { cursor, next_cursor: null, has_more: false })

  for (const query of ['limit=0', 'limit=101', 'limit=x', 'limit=1&limit=2']) {
    t.match(await ada.get(`/knowledge-bases?${query}`), { status: 400, body: { error: { code: 'invalid_request' } } })
  }
  t.match(await ada.get('/knowledge-bases?cursor=zzz'), { status: 400, body: { error: { code: 'invalid_cursor' } } })
})

t.test('other workspaces do not exist, viewers only read and scopes hold', async (t) => {
  const { signUp } = shared
  const owner = await signUp({ workspace: 'Shared' })
  const viewer = await signUp({ workspace: 'Shared', role: 'viewer' })
  const reader = await signUp({ workspace: 'Shared', role: 'editor', scopes: 'read_only' })
  const stranger = await signUp({ workspace: 'Elsewhere' })
  const { id } = (await owner.post('/knowledge-bases', { name: 'Docs' })).body.data
  const path = `/knowledge-bases/${id}`
  const confirm = { confirm_id: id }

  t.equal((await viewer.get(path)).status, 200)
  t.equal((await viewer.get(`${path}/tree`)).status, 200)
  const forbidden = { status: 403, body: { error: { code: 'forbidden', details: { required_role: 'editor' } } } }
  t.match(await viewer.post('/knowledge-bases', { name: 'x' }), forbidden)
  t.match(await viewer.patch(path, { name: 'x' }), forbidden)
  t.match(await viewer.delete(path, confirm), forbidden)

  const scopeless = { status: 403, body: { error: { code: 'insufficient_scope' } } }
  t.match(await reader.post('/knowledge-bases', { name: 'x' }), scopeless)
  t.match(await reader.patch(path, { name: 'x' }), scopeless)
  t.match(await reader.delete(path, confirm), scopeless)

  t.strictSame((await stranger.get('/knowledge-bases')).body.data, [])
  t.equal((await stranger.get(path)).status, 404)
  t.equal((await stranger.get(`${path}/tree`)).status, 404)
  t.equal((await stranger.patch(path, { name: 'x' })).status, 404)
  t.equal((await stranger.delete(path, confirm)).status, 404)
  for (const malformed of ['0', '-1', 'abc', '1e3', '99999999999999999', '9999999999999999']) {
    t.match(await owner.get(`/knowledge-bases/${malformed}`), { status: 404 })
  }
})

t.test('a repeated create with the same key makes one knowledge base', async (t) => {
  const { signUp } = shared
  const ada = await signUp()
  const key = { 'idempotency-key': 'once' }
  const first = await ada.post('/knowledge-bases', { name: 'Docs' }, key)
  const replay = await ada.post('/knowledge-bases', { name: 'Docs' }, key)
  t.equal(replay.status, 201)
  t.equal(replay.headers.get('idempotent-replayed'), 'true')
  t.equal(replay.headers.get('location'), first.headers.get('location'))
  t.strictSame(replay.body.data, first.body.data)
  t.match(await ada.post('/knowledge-bases', { name: 'Other' }, key), {
    status: 409,
    body: { error: { code: 'idempotency_key_reused' } },
  })
  t.equal((await ada.get('/knowledge-bases')).body.data.length, 1)
})

t.test('the quota of knowledge bases is exact however many are created at once', async (t) => {
  const { signUp } = await startTestService(t, { QUOTA_KNOWLEDGE_BASES: '4' })
  const ada = await signUp({ workspace: 'First' })
  const other = await signUp({ workspace: 'Second' })
  const replies = await Promise.all(Array.from({ length: 12 }, () => ada.post('/knowledge-bases', { name: 'x' })))
  t.equal(replies.filter(({ status }) => status === 201).length, 4)
  for (const { body } of replies.filter(({ status }) => status !== 201)) {
    t.match(body.error, { code: 'quota_exceeded', details: { quota: 'knowledge_bases', limit: 4, used: 4 } })
  }
  t.equal((await other.post('/knowledge-bases', { name: 'x' })).status, 201, 'each workspace has its own')
  const { id } = (await ada.get('/knowledge-bases')).body.data[0]
  await ada.delete(`/knowledge-bases/${id}`, { confirm_id: id })
  t.equal((await ada.post('/knowledge-bases', { name: 'x' })).status, 201, 'what was deleted makes room')
})

t.test('the tree shows folders by name, then documents by title, at every level', async (t) => {
  const { signUp } = shared
  const ada = await signUp()
  const base = (await ada.post('/knowledge-bases', { name: 'Docs' })).body.data.id
  const folder = async (name: string, parent_id: number | null = null) =>
    (await ada.post('/folders', { name, parent_id, knowledge_base_id: base })).body.data.id
  const b = await folder('b')
  const a = await folder('a')
  const inner = await folder('inner', a)
  const document = async (title: string, folder_id: number | null) =>
    (await ada.post('/documents', { title, folder_id, knowledge_base_id: base })).body.data.id
  const z = await document('z', null)
  const c = await document('c', null)
  const deep = await document('deep', inner)

  const { status, body } = await ada.get(`/knowledge-bases/${base}/tree?include_summary=true`)
  t.equal(status, 200)
  t.match(body.data.knowledge_base, { id: base, document_count: 3, folder_count: 3 })
  t.match(body.data.children, [
    { type: 'folder', id: a, name: 'a', parent_id: null },
    { type: 'folder', id: b, name: 'b', parent_id: null, children: [] },
    { type: 'document', id: c, title: 'c', folder_id: null, document_type: 'document', locale: null },
    { type: 'document', id: z, title: 'z', folder_id: null },
  ])
  t.match(body.data.children[0].children, [{ type: 'folder', id: inner, parent_id: a }])
  t.match(body.data.children[0].children[0].children, [{ type: 'document', id: deep, folder_id: inner }])
  t.equal((await ada.get(`/knowledge-bases/${base}/tree?include_summary=maybe`)).status, 400)
})

t.test('a deleted knowledge base takes its folders and documents along, each document with an event', async (t) => {
  const { signUp, database } = await startTestService(t)
  const ada = await signUp()
  const base = (await ada.post('/knowledge-bases', { name: 'Docs' })).body.data.id
  const folder = (await ada.post('/folders', { name: 'f', knowledge_base_id: base })).body.data.id
  const kept = (await ada.post('/knowledge-bases', { name: 'Kept' })).body.data.id
  const ids: string[] = []
  for (const place of [{ knowledge_base_id: base }, { folder_id: folder }, { knowledge_base_id: kept }]) {
    ids.push((await ada.post('/documents', { title: 'x', ...place })).body.data.id)
  }
  t.equal((await ada.delete(`/knowledge-bases/${base}`, { confirm_id: base })).status, 204)
  t.equal((await ada.get(`/folders/${folder}`)).status, 404)
  const statuses = await Promise.all(ids.map(async (id) => (await ada.get(`/documents/${id}`)).status))
  t.strictSame(statuses, [404, 404, 200])
  const deleted = await database.anyFirst(sql.unsafe`
    SELECT document_id FROM events WHERE name = 'document.deleted' ORDER BY document_id`)
  t.strictSame(deleted, ids.slice(0, 2).sort())
})
