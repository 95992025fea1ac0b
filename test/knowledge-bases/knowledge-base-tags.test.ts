import { p } from '../document/build.ts'
import type { Client } from '../support/client.ts'
import { eventsOf, make, refused } from '../support/documents.ts'
import { onlyLong } from '../support/run-options.ts'
import { sharedService } from '../support/service.ts'
import { t } from '../support/tap.ts'

const { signUp, database } = await sharedService()

t.test('a knowledge base lists its tags with the number of their documents', async (t) => {
  const ada = await signUp()
  const [base, other] = [await baseOf(ada), await baseOf(ada)]
  await tagged(ada, base, ['beta', 'Alpha'])
  await tagged(ada, base, ['ALPHA', 'Ärger'])
  await tagged(ada, other, ['alpha'])
  t.same(await listed(ada, base), { Alpha: 2, beta: 1, Ärger: 1 })
  t.same(await listed(ada, other), { alpha: 1 }, 'each knowledge base has spellings of its own')
  const first = (await ada.get(`/knowledge-bases/${base}/tags?limit=2`)).body
  t.same(first.data, [
    { tag: 'Alpha', document_count: 2 },
    { tag: 'beta', document_count: 1 },
  ])
  const rest = (await ada.get(`/knowledge-bases/${base}/tags?limit=2&cursor=${first.page.next_cursor}`)).body
  t.same(rest.data, [{ tag: 'Ärger', document_count: 1 }])
  refused(t, await ada.get(`/knowledge-bases/${other}/tags?cursor=${first.page.next_cursor}`), {
    status: 400,
    code: 'invalid_cursor',
  })
})

t.test('a spelling lives as long as a document has the tag, wherever documents go', async (t) => {
  const ada = await signUp()
  const [base, other] = [await baseOf(ada), await baseOf(ada)]
  const first = await tagged(ada, base, ['Water'])
  const second = await tagged(ada, base, ['water'])
  const moved = await tagged(ada, other, ['WATER'])
  t.same((await ada.patch(`/documents/${moved}`, { knowledge_base_id: base })).body.data.tags, ['Water'])
  await ada.delete(`/documents/${first}`)
  t.same(await listed(ada, base), { Water: 2 })
  await ada.post('/documents/delete', { ids: [second, moved] })
  t.same(await listed(ada, base), {})
  await tagged(ada, base, ['wAtEr'])
  t.same(await listed(ada, base), { wAtEr: 1 }, 'a new first document spells anew')
  const entries: { id: string }[] = (await ada.get('/trash')).body.data
  for (const { id } of entries) {
    t.same((await ada.post(`/trash/${id}/restore`)).body.data.tags, ['wAtEr'], 'what comes back follows')
  }
  t.same(await listed(ada, base), { wAtEr: 4 })
  const folder = (await ada.post('/folders', { name: 'Folder', knowledge_base_id: other })).body.data.id
  const ids = [await make(ada, [p('x')], { folder_id: folder, tags: ['WATER', 'one'] })]
  ids.push(await make(ada, [p('x')], { folder_id: folder, tags: ['ONE'] }))
  await ada.patch(`/folders/${folder}`, { knowledge_base_id: base })
  t.same(await listed(ada, base), { one: 2, wAtEr: 5 })
  t.same(await listed(ada, other), {})
  await ada.post('/documents/move', { ids: ids.map(({ id }) => id), knowledge_base_id: other })
  t.same(await listed(ada, other), { one: 2, wAtEr: 1 })
})

t.test('documents that move into a knowledge base together agree on one spelling', async (t) => {
  const ada = await signUp()
  const [base, ...others] = await Promise.all([baseOf(ada), baseOf(ada), baseOf(ada), baseOf(ada)])
  const ids: string[] = []
  for (const [n, spelling] of ['New', 'nEw', 'neW'].entries()) ids.push(await tagged(ada, others[n] ?? 0, [spelling]))
  t.equal((await ada.post('/documents/move', { ids, knowledge_base_id: base })).status, 200)
  const tags = await Promise.all(ids.map(async (id) => (await ada.get(`/documents/${id}`)).body.data.tags[0]))
  t.equal(new Set(tags).size, 1)
  t.same(await listed(ada, base ?? 0), { [tags[0]]: 3 })
})

t.test('renaming a tag changes all documents of the knowledge base, each with an event', async (t) => {
  const ada = await signUp()
  const [base, other] = [await baseOf(ada), await baseOf(ada)]
  const ids = [await tagged(ada, base, ['a', 'old', 'b']), await tagged(ada, base, ['new', 'OLD'])]
  const elsewhere = await tagged(ada, other, ['old'])
  const before = (await ada.get(`/documents/${ids[0]}`)).body.data
  const rename = (tag: string, name: string) =>
    ada.patch(`/knowledge-bases/${base}/tags/${encodeURIComponent(tag)}`, { tag: name })
  const merged = await rename(' OLD ', ' NEW ')
  t.match(
    merged,
    { status: 200, body: { data: { tag: 'new', document_count: 2 } } },
    'the tag that exists keeps its spelling',
  )
  const after = (await ada.get(`/documents/${ids[0]}`)).body.data
  t.same(after, { ...before, tags: ['a', 'new', 'b'], updated_at: after.updated_at })
  t.ok(after.updated_at >= before.updated_at)
  t.same((await ada.get(`/documents/${ids[1]}`)).body.data.tags, ['new'])
  for (const id of ids) t.same(await eventsOf(database, id), ['document.created', 'document.metadata.updated'])
  t.same(await eventsOf(database, elsewhere), ['document.created'])
  t.match((await rename('new', 'NEW')).body.data, { tag: 'NEW', document_count: 2 }, 'a case alone respells')
  t.same(
    (await ada.get(`/documents?tag=new`)).body.data.map(({ tags }: { tags: string[] }) => tags),
    [['a', 'NEW', 'b'], ['NEW']],
  )
  const events = await eventsOf(database, ids[0] ?? '')
  t.equal((await rename('NEW', 'NEW')).status, 200)
  t.same(await eventsOf(database, ids[0] ?? ''), events, 'the same name changes nothing')
  t.match((await rename('NEW', 'x/y?#ü')).body.data, { tag: 'x/y?#ü' })
  t.match((await rename('X/Y?#Ü', 'plain')).body.data, { tag: 'plain' })
  t.same(await listed(ada, base), { a: 1, b: 1, plain: 2 })
})

t.test('a tag that is deleted is gone from all documents, and from nothing else', async (t) => {
  const ada = await signUp()
  const base = await baseOf(ada)
  const ids = [await tagged(ada, base, ['a', 'gone', 'b']), await tagged(ada, base, ['gone'])]
  const remove = () => ada.delete(`/knowledge-bases/${base}/tags/GONE`)
  t.equal((await remove()).status, 204)
  t.same((await ada.get(`/documents/${ids[0]}`)).body.data.tags, ['a', 'b'])
  t.same((await ada.get(`/documents/${ids[1]}`)).body.data.tags, [])
  for (const id of ids) t.same(await eventsOf(database, id), ['document.created', 'document.metadata.updated'])
  refused(t, await remove(), { status: 404, code: 'tag_not_found', details: { id: 'GONE' } })
  t.same((await ada.get('/documents?tag=gone')).body.data, [])
  t.same(await listed(ada, base), { a: 1, b: 1 })
})

t.test('a tag of a thousand documents is renamed and deleted as a whole', onlyLong, async (t) => {
  const ada = await signUp()
  const base = await baseOf(ada)
  const id = await tagged(ada, base, ['many'])
  const { sql } = await import('../../shared/database/database.ts')
  await database.query(sql.unsafe`
    INSERT INTO document_directory (id, workspace_id)
    SELECT id || '-' || n, workspace_id FROM documents, generate_series(1, 1200) AS n WHERE id = ${id}`)
  await database.query(sql.unsafe`
    INSERT INTO documents (workspace_id, id, knowledge_base_id, title, document_type, heading_numbered,
      collapsed_block_ids, version, body_seq, character_count, node_count, tags, tag_keys)
    SELECT workspace_id, id || '-' || n, knowledge_base_id, title, document_type, false, '{}', version, 1, 1, 1,
      tags, tag_keys
    FROM documents, generate_series(1, 1200) AS n WHERE id = ${id}`)
  const renamed = await ada.patch(`/knowledge-bases/${base}/tags/many`, { tag: 'more' })
  t.same(renamed.body.data, { tag: 'more', document_count: 1201 })
  t.same(await eventsOf(database, `${id}-777`), ['document.metadata.updated'])
  t.equal((await ada.delete(`/knowledge-bases/${base}/tags/more`)).status, 204)
  t.same(await listed(ada, base), {})
})

t.test('only who may see a knowledge base lists its tags, and only who may write documents changes them', async (t) => {
  const ada = await signUp({ workspace: 'tags' })
  const editor = await signUp({ workspace: 'tags', role: 'editor' })
  const viewer = await signUp({ workspace: 'tags', role: 'viewer' })
  const stranger = await signUp()
  const base = await baseOf(ada)
  await tagged(ada, base, ['tag'])
  const path = `/knowledge-bases/${base}/tags`
  t.equal((await viewer.get(path)).status, 200)
  refused(t, await viewer.patch(`${path}/tag`, { tag: 'x' }), { status: 403, code: 'forbidden' })
  refused(t, await viewer.delete(`${path}/tag`), { status: 403, code: 'forbidden' })
  for (const reply of [
    await stranger.get(path),
    await stranger.patch(`${path}/tag`, { tag: 'x' }),
    await stranger.delete(`${path}/tag`),
  ]) {
    refused(t, reply, { status: 404, code: 'knowledge_base_not_found' })
  }
  for (const scopes of [['documents:read'], ['knowledge-bases:read']] as const) {
    const narrow = await signUp({ workspace: 'tags', scopes: [...scopes] })
    t.match(await narrow.get(path), { status: 403, body: { error: { code: 'insufficient_scope' } } })
    t.equal((await narrow.patch(`${path}/tag`, { tag: 'x' })).status, 403)
    t.equal((await narrow.delete(`${path}/tag`)).status, 403)
  }
  t.equal((await ada.patch(`${path}/tag`, { tag: ' ' })).status, 400)
  t.equal((await ada.patch(`${path}/tag`, {})).status, 400)
  refused(t, await ada.patch(`${path}/none`, { tag: 'x' }), { status: 404, code: 'tag_not_found' })
  t.equal((await ada.patch(`${path}/%00`, { tag: 'x' })).status, 404)
  t.equal((await ada.delete(`${path}/${'x'.repeat(500)}`)).status, 404)
  t.equal((await editor.patch(`${path}/tag`, { tag: 'edited' })).status, 200)
  t.same(await listed(ada, base), { edited: 1 })
})

async function baseOf(client: Client): Promise<number> {
  return (await client.post('/knowledge-bases', { name: 'Base' })).body.data.id
}

async function tagged(client: Client, base: number, tags: string[]): Promise<string> {
  return (await make(client, [p('x')], { knowledge_base_id: base, tags })).id
}

async function listed(client: Client, base: number): Promise<Record<string, number>> {
  const { data } = (await client.get(`/knowledge-bases/${base}/tags`)).body
  return Object.fromEntries(
    data.map(({ tag, document_count }: { tag: string; document_count: number }) => [tag, document_count]),
  )
}
