import { sql } from '../../shared/database/database.ts'
import type { Client } from '../support/client.ts'
import { startTestService } from '../support/service.ts'
import { t } from '../support/tap.ts'

const shared = await startTestService(t)

t.test('a folder is created, read, renamed and deleted', async (t) => {
  const { ada, base } = await startWithBase()
  const created = await ada.post('/folders', { name: ' Guides ', knowledge_base_id: String(base) })
  t.equal(created.status, 201)
  const { id } = created.body.data
  t.equal(created.headers.get('location'), `/api/v1/folders/${id}`)
  t.match(created.body.data, { id: Number, knowledge_base_id: base, parent_id: null, name: 'Guides' })
  t.strictSame(Object.keys(created.body.data).sort(), folderMembers)
  t.strictSame((await ada.get(`/folders/${id}`)).body.data, created.body.data)

  const inner = await ada.post('/folders', { name: 'Inner', parent_id: id })
  t.match(inner.body.data, { knowledge_base_id: base, parent_id: id }, 'the parent says which knowledge base')

  const same = await ada.patch(`/folders/${id}`, { name: 'Guides', parent_id: null })
  t.strictSame(same.body.data, created.body.data, 'what stays the same changes nothing')
  t.match(await ada.patch(`/folders/${id}`, { name: ' Handbook ' }), {
    status: 200,
    body: { data: { name: 'Handbook' } },
  })

  t.equal((await ada.delete(`/folders/${id}`)).status, 204)
  t.match(await ada.get(`/folders/${id}`), {
    status: 404,
    body: { error: { code: 'folder_not_found', details: { id } } },
  })
  t.equal((await ada.get(`/folders/${inner.body.data.id}`)).status, 404)
  t.equal((await ada.delete(`/folders/${id}`)).status, 404)
  t.equal((await ada.patch(`/folders/${id}`, { name: 'x' })).status, 404)
})

t.test('a folder without a place, or with one that contradicts itself, is refused', async (t) => {
  const { ada, base } = await startWithBase()
  const other = (await ada.post('/knowledge-bases', { name: 'Other' })).body.data.id
  const parent = await folder(ada, { name: 'p', knowledge_base_id: base })

  const placeless = { status: 400, body: { error: { details: { fields: [{ path: '/knowledge_base_id' }] } } } }
  t.match(await ada.post('/folders', { name: 'x' }), placeless)
  t.match(await ada.post('/folders', { name: 'x', parent_id: null }), placeless)
  const mismatch = { status: 400, body: { error: { code: 'folder_knowledge_base_mismatch' } } }
  t.match(await ada.post('/folders', { name: 'x', parent_id: parent, knowledge_base_id: other }), mismatch)
  t.match(await ada.patch(`/folders/${parent}`, { parent_id: parent, knowledge_base_id: other }), mismatch)

  t.match(await ada.post('/folders', { name: 'x', knowledge_base_id: 999_999 }), {
    status: 404,
    body: { error: { code: 'knowledge_base_not_found', details: { id: 999_999, field: 'knowledge_base_id' } } },
  })
  const missingParent = {
    status: 404,
    body: { error: { code: 'folder_not_found', details: { id: 999_999, field: 'parent_id' } } },
  }
  t.match(await ada.post('/folders', { name: 'x', parent_id: 999_999 }), missingParent)
  t.match(await ada.patch(`/folders/${parent}`, { parent_id: '999999' }), missingParent)
  const id = '9999999999999999'
  const inexact = { status: 404, body: { error: { code: 'folder_not_found', details: { id, field: 'parent_id' } } } }
  t.match(await ada.post('/folders', { name: 'x', parent_id: id }), inexact)
  t.match(await ada.patch(`/folders/${parent}`, { parent_id: id }), inexact)
  t.match(await ada.get(`/folders/${id}`), {
    status: 404,
    body: { error: { code: 'folder_not_found', details: { id } } },
  })

  for (const wrong of [0, -1, 1.5, 1e300, '01', 'abc', '', true, [base]]) {
    t.equal((await ada.post('/folders', { name: 'x', knowledge_base_id: wrong })).status, 400, JSON.stringify(wrong))
    t.equal((await ada.post('/folders', { name: 'x', parent_id: wrong })).status, 400)
    t.equal((await ada.patch(`/folders/${parent}`, { parent_id: wrong })).status, 400)
  }
  t.equal((await ada.post('/folders', { name: 'x', knowledge_base_id: null })).status, 400)
  t.equal((await ada.patch(`/folders/${parent}`, { name: null })).status, 400)
  t.equal((await ada.patch(`/folders/${parent}`, { name: ' ' })).status, 400)
  t.equal((await ada.post('/folders', { knowledge_base_id: base })).status, 400)
})

t.test('a folder moves inside its knowledge base, and never below itself', async (t) => {
  const { ada, base } = await startWithBase()
  const a = await folder(ada, { name: 'a', knowledge_base_id: base })
  const b = await folder(ada, { name: 'b', parent_id: a })
  const c = await folder(ada, { name: 'c', parent_id: b })

  const cycle = { status: 409, body: { error: { code: 'folder_cycle' } } }
  t.match(await ada.patch(`/folders/${a}`, { parent_id: a }), cycle)
  t.match(await ada.patch(`/folders/${a}`, { parent_id: c, name: 'not stored' }), cycle)
  t.match((await ada.get(`/folders/${a}`)).body.data, { name: 'a', parent_id: null })

  t.match((await ada.patch(`/folders/${c}`, { parent_id: a, name: 'sea' })).body.data, { parent_id: a, name: 'sea' })
  t.match((await ada.patch(`/folders/${c}`, { parent_id: null })).body.data, {
    parent_id: null,
    knowledge_base_id: base,
  })
  await ada.patch(`/folders/${c}`, { parent_id: b })
  t.match((await ada.patch(`/folders/${c}`, { knowledge_base_id: base })).body.data, { parent_id: null })
})

t.test('a folder takes everything below it to another knowledge base, with an event for each document', async (t) => {
  const { ada, base, database } = await startWithBase(await startTestService(t))
  const other = (await ada.post('/knowledge-bases', { name: 'Other' })).body.data.id
  const a = await folder(ada, { name: 'a', knowledge_base_id: base })
  const b = await folder(ada, { name: 'b', parent_id: a })
  const target = await folder(ada, { name: 'target', knowledge_base_id: other })
  const inside = [await document(ada, { folder_id: a }), await document(ada, { folder_id: b })]
  const outside = await document(ada, { knowledge_base_id: base })

  t.match((await ada.patch(`/folders/${a}`, { parent_id: target })).body.data, {
    knowledge_base_id: other,
    parent_id: target,
  })
  t.match((await ada.get(`/folders/${b}`)).body.data, { knowledge_base_id: other, parent_id: a })
  for (const [index, id] of inside.entries()) {
    t.match((await ada.get(`/documents/${id}`)).body.data, { knowledge_base_id: other, folder_id: index === 0 ? a : b })
  }
  t.match((await ada.get(`/documents/${outside}`)).body.data, { knowledge_base_id: base })
  const events = await database.anyFirst(sql.unsafe`
    SELECT document_id || ' is in ' || (document ->> 'knowledge_base_id') FROM events
    WHERE name = 'document.metadata.updated' ORDER BY document_id`)
  t.strictSame(
    events,
    inside.sort().map((id) => `${id} is in ${other}`),
  )
  t.match((await ada.get(`/knowledge-bases/${base}`)).body.data, { folder_count: 0, document_count: 1 })

  t.match((await ada.patch(`/folders/${a}`, { knowledge_base_id: base })).body.data, {
    knowledge_base_id: base,
    parent_id: null,
  })
  t.equal((await ada.patch(`/folders/${a}`, { name: 'renamed' })).status, 200)
  await ada.patch(`/folders/${b}`, { parent_id: null })
  t.equal(await database.oneFirst(sql.unsafe`SELECT count(*) FROM events WHERE name = 'document.metadata.updated'`), 4)
})

t.test('moves that only together close a cycle cannot both win', async (t) => {
  const { ada, base } = await startWithBase()
  const other = (await ada.post('/knowledge-bases', { name: 'Other' })).body.data.id
  for (let round = 0; round < 15; round += 1) {
    // In every other round the folders also change their knowledge bases.
    const homes = round % 2 === 0 ? [base, base, base] : [base, other, base]
    const ids = await Promise.all(homes.map((home) => folder(ada, { name: `${round}`, knowledge_base_id: home })))
    const replies = await Promise.all(
      ids.map((id, index) => ada.patch(`/folders/${id}`, { parent_id: ids[(index + 1) % 3] })),
    )
    const refused = replies.filter(({ status }) => status !== 200)
    t.ok(refused.length >= 1)
    t.strictSame(new Set(refused.map(({ body }) => body.error.code)), new Set(['folder_cycle']))
    const roots = (await Promise.all(ids.map((id) => ada.get(`/folders/${id}`)))).map(({ body }) => body.data)
    t.ok(roots.some(({ parent_id }) => parent_id === null))
    t.equal(new Set(roots.map(({ knowledge_base_id }) => knowledge_base_id)).size, 1 + Number(refused.length > 1))
  }
})

t.test('a folder that moves away or goes leaves no document behind, however the writes fall', async (t) => {
  const { ada, base, database } = await startWithBase(await startTestService(t))
  const other = (await ada.post('/knowledge-bases', { name: 'Other' })).body.data.id
  for (let round = 0; round < 8; round += 1) {
    const id = await folder(ada, { name: `${round}`, knowledge_base_id: base })
    const change = () =>
      round % 2 === 0 ? ada.patch(`/folders/${id}`, { knowledge_base_id: other }) : ada.delete(`/folders/${id}`)
    const [changed, ...created] = await Promise.all([
      change(),
      ...Array.from({ length: 4 }, () => ada.post('/documents', { title: 'x', folder_id: id })),
      ada.post('/folders', { name: 'x', parent_id: id }),
    ])
    t.match(changed?.status, round % 2 === 0 ? 200 : 204)
    for (const { status } of created) t.ok(status === 201 || (status === 404 && round % 2 === 1), `status ${status}`)
  }
  const astray = await database.oneFirst(sql.unsafe`
    SELECT (SELECT count(*) FROM documents d JOIN folders f ON f.id = d.folder_id
            WHERE f.knowledge_base_id <> d.knowledge_base_id)
      + (SELECT count(*) FROM folders c JOIN folders p ON p.id = c.parent_id
         WHERE c.knowledge_base_id <> p.knowledge_base_id)`)
  t.equal(astray, 0)
})

t.test('a deleted folder takes its documents along, each with an event', async (t) => {
  const { ada, base, database } = await startWithBase(await startTestService(t))
  const a = await folder(ada, { name: 'a', knowledge_base_id: base })
  const b = await folder(ada, { name: 'b', parent_id: a })
  const inside = [await document(ada, { folder_id: a }), await document(ada, { folder_id: b })]
  const outside = await document(ada, { knowledge_base_id: base })
  t.equal((await ada.delete(`/folders/${a}`)).status, 204)
  for (const id of inside) t.equal((await ada.get(`/documents/${id}`)).status, 404)
  t.equal((await ada.get(`/documents/${outside}`)).status, 200)
  const deleted = await database.anyFirst(sql.unsafe`SELECT document_id FROM events WHERE name = 'document.deleted'`)
  t.strictSame([...deleted].sort(), inside.sort())
})

t.test('the children of a folder come in order, whole or page by page, also after deletions', async (t) => {
  const { ada, base } = await startWithBase()
  const id = await folder(ada, { name: 'f', knowledge_base_id: base })
  const long = 'ü'.repeat(300)
  for (const name of ['b', 'a', 'a']) await folder(ada, { name, parent_id: id })
  for (const title of ['z', `${long}2`, `${long}1`, `${long}1`, 'B']) await document(ada, { title, folder_id: id })
  await folder(ada, { name: 'elsewhere', knowledge_base_id: base })

  const whole = await ada.get(`/folders/${id}/children`)
  t.strictSame(whole.body.page, { cursor: null, next_cursor: null, has_more: false })
  const labels = whole.body.data.map((node: Node) => (node.type === 'folder' ? node.name : node.title))
  t.strictSame(labels, ['a', 'a', 'b', 'B', 'z', `${long}1`, `${long}1`, `${long}2`])
  t.ok(whole.body.data[0].id < whole.body.data[1].id, 'ties by id')
  t.notOk('children' in whole.body.data[0])
  t.match(whole.body.data[3], { type: 'document', folder_id: id, document_type: 'document', updated_at: Number })

  for (const limit of [1, 3]) {
    const seen: Node[] = []
    let cursor: string | null = null
    do {
      const path: string = `/folders/${id}/children?limit=${limit}${cursor === null ? '' : `&cursor=${cursor}`}`
      const { body } = await ada.get(path)
      seen.push(...body.data)
      cursor = body.page.next_cursor
      t.ok((cursor ?? '').length <= 512)
    } while (cursor !== null)
    t.strictSame(seen, whole.body.data)
  }

  const first = await ada.get(`/folders/${id}/children?limit=5`)
  await ada.delete(`/documents/${first.body.data[4].id}`)
  const rest = await ada.get(`/folders/${id}/children?limit=5&cursor=${first.body.page.next_cursor}`)
  t.strictSame(rest.body.data, whole.body.data.slice(5), 'deleting what was read skips nothing')

  const sibling = await folder(ada, { name: 'g', knowledge_base_id: base })
  t.match(await ada.get(`/folders/${sibling}/children?cursor=${first.body.page.next_cursor}`), {
    status: 400,
    body: { error: { code: 'invalid_cursor' } },
  })
})

t.test('other workspaces do not exist, viewers only read, nothing moves across, and scopes hold', async (t) => {
  const { signUp } = await startTestService(t)
  const owner = await signUp({ workspace: 'Shared' })
  const viewer = await signUp({ workspace: 'Shared', role: 'viewer' })
  const reader = await signUp({ workspace: 'Shared', role: 'editor', scopes: ['knowledge-bases:read'] })
  const stranger = await signUp({ workspace: 'Elsewhere' })
  await signUp({ email: 'both@example.test', workspace: 'Shared' })
  const both = await signUp({ email: 'both@example.test', workspace: 'Elsewhere' })
  const base = (await owner.post('/knowledge-bases', { name: 'Docs' })).body.data.id
  const foreign = (await stranger.post('/knowledge-bases', { name: 'Foreign' })).body.data.id
  const id = await folder(owner, { name: 'f', knowledge_base_id: base })
  const path = `/folders/${id}`

  t.equal((await viewer.get(path)).status, 200)
  t.equal((await viewer.get(`${path}/children`)).status, 200)
  const forbidden = { status: 403, body: { error: { code: 'forbidden', details: { required_role: 'editor' } } } }
  t.match(await viewer.post('/folders', { name: 'x', knowledge_base_id: base }), forbidden)
  t.match(await viewer.patch(path, { name: 'x' }), forbidden)
  t.match(await viewer.patch(path, { parent_id: null }), forbidden)
  t.match(await viewer.delete(path), forbidden)

  const scopeless = { status: 403, body: { error: { code: 'insufficient_scope' } } }
  t.match(await reader.post('/folders', { name: 'x', knowledge_base_id: base }), scopeless)
  t.match(await reader.patch(path, { name: 'x' }), scopeless)
  t.match(await reader.delete(path), scopeless)
  t.match(await reader.get(`${path}/children`), scopeless)

  t.equal((await stranger.get(path)).status, 404)
  t.equal((await stranger.get(`${path}/children`)).status, 404)
  t.equal((await stranger.patch(path, { name: 'x' })).status, 404)
  t.equal((await stranger.delete(path)).status, 404)
  t.equal((await stranger.post('/folders', { name: 'x', parent_id: id })).status, 404)
  t.equal((await owner.patch(path, { knowledge_base_id: foreign })).status, 404)

  const across = { status: 400, body: { error: { code: 'cross_workspace_move' } } }
  t.match(await both.patch(path, { knowledge_base_id: foreign }), across)
  const abroad = await folder(stranger, { name: 'abroad', knowledge_base_id: foreign })
  t.match(await both.patch(path, { parent_id: abroad }), across)
})

t.test('a repeated create with the same key makes one folder', async (t) => {
  const { ada, base } = await startWithBase()
  const key = { 'idempotency-key': 'once' }
  const input = { name: 'f', knowledge_base_id: base }
  const replies = await Promise.all(Array.from({ length: 4 }, () => ada.post('/folders', input, key)))
  t.ok(replies.every(({ status, body }) => status === 201 || body.error.code === 'idempotency_in_progress'))
  const replay = await ada.post('/folders', input, key)
  t.equal(replay.status, 201)
  t.equal((await ada.get(`/knowledge-bases/${base}`)).body.data.folder_count, 1)
})

t.test('the quota of folders is exact however many are created at once', async (t) => {
  // At first the limit is so far away that the writers do not wait for each other's counts.
  const { ada, base } = await startWithBase(await startTestService(t, { QUOTA_FOLDERS: '270' }))
  const create = () => ada.post('/folders', { name: 'x', knowledge_base_id: base })
  const replies = await Promise.all(Array.from({ length: 300 }, create))
  t.equal(replies.filter(({ status }) => status === 201).length, 270)
  t.match(await create(), {
    status: 409,
    body: { error: { code: 'quota_exceeded', details: { quota: 'folders', limit: 270, used: 270 } } },
  })
  t.equal((await ada.get('/me/quota')).body.data.usage.folders, 270)
})

const folderMembers = ['created_at', 'created_by', 'id', 'knowledge_base_id', 'name', 'parent_id', 'updated_at']

type Node = { type: 'folder'; id: number; name: string } | { type: 'document'; id: string; title: string }

async function startWithBase(service = shared) {
  const ada = await service.signUp()
  const base: number = (await ada.post('/knowledge-bases', { name: 'Docs' })).body.data.id
  return { ...service, ada, base }
}

async function folder(client: Client, input: object): Promise<number> {
  return (await client.post('/folders', input)).body.data.id
}

async function document(client: Client, input: object): Promise<string> {
  return (await client.post('/documents', { title: 'x', ...input })).body.data.id
}
