import { sql } from '../../shared/database/database.ts'
import { p } from '../document/build.ts'
import { LiveProcess, Site, shown, textAt } from '../live/site.ts'
import { uploaded } from '../support/attachments.ts'
import type { Client } from '../support/client.ts'
import { bodyOf, make, put, refused } from '../support/documents.ts'
import { sharedService } from '../support/service.ts'
import { t } from '../support/tap.ts'
import { ok, translate } from '../support/translations.ts'
import { Visitor } from '../support/visitor.ts'

const service = await sharedService()
const { signUp, database } = service

t.test('a person sees what was deleted, the newest first, until when and by whom', async (t) => {
  const ada = await signUp()
  const { zoo, mammals, large } = await structure(ada)
  const document = await make(ada, [p('a')], { title: 'Elephants', folder_id: large })
  const bare = await make(ada, [p('a')], { title: 'Lakes', knowledge_base_id: zoo })
  const begun = Date.now()
  ok(await ada.delete(`/documents/${bare.id}`))
  ok(await ada.delete(`/documents/${document.id}`))
  await make(ada, [p('a')], { title: 'Storks', folder_id: large })
  ok(await ada.delete(`/folders/${mammals}`))
  ok(await ada.delete(`/knowledge-bases/${zoo}?confirm_id=${zoo}`))
  const { data, page } = ok(await ada.get('/trash'))
  t.match(data, [
    { type: 'knowledge_base', name: 'Zoo', path_text: 'Zoo', document_count: 0 },
    { type: 'folder', name: 'Mammals', path_text: 'Zoo / Mammals', document_count: 1 },
    { type: 'document', name: 'Elephants', path_text: 'Zoo / Mammals / Large / Elephants', document_count: 1 },
    { type: 'document', name: 'Lakes', path_text: 'Zoo / Lakes', document_count: 1 },
  ])
  t.strictSame(page, { cursor: null, next_cursor: null, has_more: false })
  for (const { id, deleted_at, deleted_by, expires_at } of data) {
    t.match(id, /^trash_[0-9A-HJKMNP-TV-Z]{26}$/)
    t.ok(deleted_at >= begun && deleted_at <= Date.now())
    t.equal(deleted_by, ada.user_id)
    t.equal(expires_at, deleted_at + 30 * 86_400_000)
  }
})

t.test('a list of the trash is narrowed by knowledge base and name, and goes on where its page ended', async (t) => {
  const ada = await signUp()
  const { zoo, large } = await structure(ada)
  const harbour = ok(await ada.post('/knowledge-bases', { name: 'Harbour' })).data.id
  for (const [title, place] of [
    ['Storks', { folder_id: large }],
    ['100% Ärger', { knowledge_base_id: zoo }],
    ['STORK nests', { knowledge_base_id: harbour }],
  ] as const) {
    ok(await ada.delete(`/documents/${(await make(ada, [p('a')], { title, ...place })).id}`))
  }
  const names = async (query: string) =>
    ok(await ada.get(`/trash?${query}`)).data.map(({ name }: { name: string }) => name)
  t.strictSame(await names(''), ['STORK nests', '100% Ärger', 'Storks'])
  t.strictSame(await names('q=stork'), ['STORK nests', 'Storks'])
  t.strictSame(await names(`q=stork&knowledge_base_id=${zoo}`), ['Storks'])
  t.strictSame(await names(`q=${encodeURIComponent(' 0% är ')}`), ['100% Ärger'])
  t.strictSame(await names('q=%25'), ['100% Ärger'])
  t.strictSame(await names(`knowledge_base_id=${zoo}`), ['100% Ärger', 'Storks'])
  t.strictSame(await names('knowledge_base_id=999999'), [], 'an unknown filter finds nothing')
  const walked: string[] = []
  for (let query = 'limit=2'; query !== ''; ) {
    const { data, page } = ok(await ada.get(`/trash?${query}`))
    walked.push(...data.map(({ name }: { name: string }) => name))
    query = page.next_cursor === null ? '' : `limit=2&cursor=${page.next_cursor}`
  }
  t.strictSame(walked, ['STORK nests', '100% Ärger', 'Storks'])
  const { next_cursor } = ok(await ada.get('/trash?limit=1')).page
  for (const query of ['limit=1&cursor=x', `limit=1&q=stork&cursor=${next_cursor}`]) {
    refused(t, await ada.get(`/trash?${query}`), { status: 400, code: 'invalid_cursor' })
  }
  for (const query of ['limit=0', 'limit=101', 'knowledge_base_id=x', 'q=', `q=${'x'.repeat(201)}`]) {
    refused(t, await ada.get(`/trash?${query}`), { status: 400, code: 'invalid_request' })
  }
})

t.test('who may not delete a thing may not restore or purge it, and others do not see it', async (t) => {
  const ada = await signUp({ workspace: 'Rights' })
  const { large, zoo } = await structure(ada)
  const { id } = await make(ada, [p('a')], { folder_id: large })
  ok(await ada.delete(`/documents/${id}`))
  ok(await ada.delete(`/folders/${large}`))
  ok(await ada.delete(`/knowledge-bases/${zoo}?confirm_id=${zoo}`))
  const entries: { id: string; type: string }[] = ok(await ada.get('/trash')).data
  const viewer = await signUp({ workspace: 'Rights', role: 'viewer' })
  const editor = await signUp({ workspace: 'Rights', role: 'editor', scopes: ['documents:read', 'documents:write'] })
  const stranger = await signUp()
  t.strictSame(ok(await viewer.get('/trash')).data, entries, 'a viewer reads')
  t.strictSame(ok(await stranger.get('/trash')).data, [])
  for (const entry of entries) {
    const calls = (client: Client) => [
      () => client.post(`/trash/${entry.id}/restore`),
      () => client.delete(`/trash/${entry.id}`),
    ]
    for (const call of calls(viewer)) refused(t, await call(), { status: 403, code: 'forbidden' })
    for (const call of calls(stranger)) refused(t, await call(), { status: 404, code: 'trash_not_found' })
    if (entry.type === 'document') continue
    for (const call of calls(editor)) {
      const details = { required_scopes: ['documents:write', 'knowledge-bases:write'] }
      refused(t, await call(), { status: 403, code: 'insufficient_scope', details })
    }
  }
  for (const path of ['trash_x', 'trash_01ARZ3NDEKTSV4RRFFQ69G5FAV']) {
    refused(t, await ada.post(`/trash/${path}/restore`), { status: 404, code: 'trash_not_found' })
    refused(t, await ada.delete(`/trash/${path}`), { status: 404, code: 'trash_not_found' })
  }
  const [, , document] = entries
  ok(await editor.post(`/trash/${document?.id}/restore`, { knowledge_base_id: await anyBase(ada) }))
  t.match(ok(await ada.get(`/documents/${id}`)).data, { id })
})

t.test('a document returns to its place, to the root where its folder is gone, or where the caller says', async (t) => {
  const ada = await signUp()
  const { zoo, mammals, large } = await structure(ada)
  const harbour = ok(await ada.post('/knowledge-bases', { name: 'Harbour' })).data.id
  const docks = ok(await ada.post('/folders', { name: 'Docks', knowledge_base_id: harbour })).data.id
  const { id } = await make(ada, [p('a')], { folder_id: large })
  const returned = async (place?: object) => {
    ok(await ada.delete(`/documents/${id}`))
    const reply = await ada.post(`/trash/${await newest(ada)}/restore`, place)
    const { knowledge_base_id, folder_id, not_restored } = ok(reply).data
    t.match(ok(await ada.get(`/documents/${id}`)).data, { knowledge_base_id, folder_id })
    t.strictSame(not_restored, [])
    return [knowledge_base_id, folder_id]
  }
  const { updated_at } = ok(await ada.get(`/documents/${id}`)).data
  t.strictSame(await returned(), [zoo, large])
  t.equal(ok(await ada.get(`/documents/${id}`)).data.updated_at, updated_at)
  t.strictSame(await returned({ folder_id: mammals }), [zoo, mammals])
  t.ok(ok(await ada.get(`/documents/${id}`)).data.updated_at > updated_at, 'a move changes the document')
  t.strictSame(await returned({ folder_id: String(large) }), [zoo, large])
  t.strictSame(await returned({ knowledge_base_id: harbour }), [harbour, null])
  t.strictSame(await returned({ knowledge_base_id: harbour, folder_id: docks }), [harbour, docks])
  t.strictSame(await returned({ knowledge_base_id: zoo, folder_id: null }), [zoo, null])
  ok(await ada.patch(`/documents/${id}`, { folder_id: large }))
  ok(await ada.delete(`/documents/${id}`))
  const entry = await newest(ada)
  ok(await ada.delete(`/folders/${mammals}`))
  t.match(ok(await ada.post(`/trash/${entry}/restore`)).data, { knowledge_base_id: zoo, folder_id: null })
  ok(await ada.delete(`/documents/${id}`))
  const last = await newest(ada)
  ok(await ada.delete(`/knowledge-bases/${zoo}?confirm_id=${zoo}`))
  refused(t, await ada.post(`/trash/${last}/restore`), {
    status: 409,
    code: 'parent_missing',
    details: { knowledge_base_id: zoo },
  })
  const stranger = await signUp()
  const elsewhere = await anyBase(stranger)
  for (const [place, code, field] of [
    [{ folder_id: large }, 'folder_not_found', 'folder_id'],
    [{ knowledge_base_id: zoo }, 'knowledge_base_not_found', 'knowledge_base_id'],
    [{ knowledge_base_id: elsewhere }, 'knowledge_base_not_found', 'knowledge_base_id'],
  ] as const) {
    const reply = await ada.post(`/trash/${last}/restore`, place)
    t.match(reply, { status: 404, body: { error: { code, details: { field } } } }, reply.text)
  }
  const mismatch = { knowledge_base_id: await anyBase(ada), folder_id: docks }
  ok(await ada.post('/knowledge-bases', { name: 'Other' }))
  const other = await anyBase(ada, 'Other')
  refused(t, await ada.post(`/trash/${last}/restore`, { ...mismatch, knowledge_base_id: other }), {
    status: 400,
    code: 'folder_knowledge_base_mismatch',
  })
  t.match(ok(await ada.post(`/trash/${last}/restore`, { folder_id: docks })).data, { folder_id: docks })
})

t.test('a document of two workspaces is restored only within its own', async (t) => {
  const email = 'both@example.test'
  await signUp({ email, workspace: 'First' })
  const both = await signUp({ email, workspace: 'Second' })
  const inFirst = await anyBase(await signUp({ workspace: 'First' }))
  const second = await signUp({ workspace: 'Second' })
  const { id } = await make(second, [p('a')], { knowledge_base_id: await anyBase(second) })
  ok(await both.delete(`/documents/${id}`))
  const reply = await both.post(`/trash/${await newest(both)}/restore`, { knowledge_base_id: inFirst })
  refused(t, reply, { status: 400, code: 'cross_workspace_move' })
})

t.test('a folder returns with everything in it, into another folder too; a base takes no place', async (t) => {
  const ada = await signUp()
  const { zoo, mammals, large } = await structure(ada)
  const { id } = await make(ada, [p('a')], { folder_id: large })
  const before = ok(await ada.get(`/folders/${mammals}`)).data
  ok(await ada.delete(`/folders/${mammals}`))
  const restored = ok(await ada.post(`/trash/${await newest(ada)}/restore`)).data
  t.strictSame(restored, { ...before, not_restored: [] })
  t.match(ok(await ada.get(`/documents/${id}`)).data, { folder_id: large, knowledge_base_id: zoo })
  const harbour = ok(await ada.post('/knowledge-bases', { name: 'Harbour' })).data.id
  const docks = ok(await ada.post('/folders', { name: 'Docks', knowledge_base_id: harbour })).data.id
  ok(await ada.delete(`/folders/${mammals}`))
  t.match(ok(await ada.post(`/trash/${await newest(ada)}/restore`, { folder_id: docks })).data, {
    id: mammals,
    parent_id: docks,
    knowledge_base_id: harbour,
  })
  t.match(ok(await ada.get(`/documents/${id}`)).data, { folder_id: large, knowledge_base_id: harbour })
  t.match(ok(await ada.get(`/folders/${large}`)).data, { parent_id: mammals, knowledge_base_id: harbour })
  const base = ok(await ada.get(`/knowledge-bases/${harbour}`)).data
  ok(await ada.delete(`/knowledge-bases/${harbour}?confirm_id=${harbour}`))
  const entry = await newest(ada)
  for (const place of [{ folder_id: docks }, { knowledge_base_id: zoo }]) {
    refused(t, await ada.post(`/trash/${entry}/restore`, place), { status: 400, code: 'invalid_request' })
  }
  t.strictSame(ok(await ada.post(`/trash/${entry}/restore`, {})).data, { ...base, not_restored: [] })
})

t.test('a restored document goes on as if it had never been away', async (t) => {
  const ada = await signUp()
  const { id, etag, blocks } = await make(ada, [p('one'), p('two')])
  const site = await Site.of(service, ada)
  const live = await LiveProcess.open(site, { workspace_id: ada.workspace_id, id })
  textAt(live.doc, 0).insert(0, 'Typed ')
  await live.flush()
  const before = await bodyOf(ada, id)
  refused(t, await put(ada, id, [p('three')], etag), { status: 409, code: 'version_conflict' })
  ok(await ada.delete(`/documents/${id}`))
  // An editor who had the document open goes on typing.
  textAt(live.doc, 0).insert(0, 'Typed meanwhile ')
  await t.rejects(live.flush(), { code: 'document_not_found' })
  ok(await ada.post(`/trash/${await newest(ada)}/restore`))
  await live.flush()
  const reopened = await LiveProcess.open(site, { workspace_id: ada.workspace_id, id })
  textAt(reopened.doc, 1).insert(0, 'Typed later ')
  await reopened.flush()
  t.strictSame(shown(reopened.doc).content, (await bodyOf(ada, id)).blocks)
  t.strictSame(
    (await bodyOf(ada, id)).blocks.map(({ content }) => content?.[0]?.text),
    ['Typed meanwhile Typed one', 'Typed later two'],
  )
  refused(t, await put(ada, id, [p('three')], before.etag), { status: 409, code: 'version_conflict' })
  t.equal((await put(ada, id, [p('three')], (await bodyOf(ada, id)).etag)).status, 200)
  t.equal((await ada.post(`/documents/${id}/versions/1/rollback`, undefined, { 'if-match': '*' })).status, 200)
  t.equal(blocks.length, 2)
})

t.test('a public link is closed by a deletion, and a restore says that it stays closed', async (t) => {
  const ada = await signUp()
  const { id } = await make(ada, [p('a')])
  const { url } = ok(await ada.post(`/documents/${id}/public-share`)).data
  const path = new URL(url).pathname
  const visitor = new Visitor(service.origin)
  t.equal((await visitor.get(path)).status, 200)
  ok(await ada.delete(`/documents/${id}`))
  t.equal((await visitor.get(path)).status, 404)
  t.strictSame(ok(await ada.post(`/trash/${await newest(ada)}/restore`)).data.not_restored, ['public_share'])
  t.equal((await visitor.get(path)).status, 404)
  const again = await ada.post(`/documents/${id}/public-share`)
  t.equal(again.status, 201)
  t.not(again.body.data.url, url)
})

t.test('what would exceed a quota waits in the trash, and nothing in the trash counts', async (t) => {
  const own = await sharedService({ QUOTA_DOCUMENTS: '2', QUOTA_FOLDERS: '2', QUOTA_ATTACHMENT_BYTES: '200' })
  const ada = await own.signUp()
  const { mammals, large } = await structure(ada)
  const { id } = await make(ada, [p('a')], { folder_id: large })
  await uploaded(ada, { documentId: id, bytes: 'x'.repeat(150), filename: 'a.txt', type: 'text/plain' })
  await make(ada, [p('a')], { folder_id: large })
  ok(await ada.delete(`/folders/${mammals}`))
  const entry = await newest(ada)
  t.match(ok(await ada.get('/me/quota')).data.usage, { documents: 0, folders: 0, attachment_bytes: 0 })
  const refusal = async (quota: string) => {
    const reply = await ada.post(`/trash/${entry}/restore`)
    t.match(reply, { status: 409, body: { error: { code: 'quota_exceeded', details: { quota } } } }, reply.text)
  }
  const other = await make(ada, [p('a')])
  await refusal('documents')
  ok(await ada.delete(`/documents/${other.id}`))
  const folder = ok(await ada.post('/folders', { name: 'x', knowledge_base_id: await anyBase(ada) })).data.id
  await refusal('folders')
  ok(await ada.delete(`/folders/${folder}`))
  ok(await ada.post(`/trash/${entry}/restore`))
  t.equal((await ada.get(`/documents/${id}`)).status, 200)
})

t.test('a language that was taken meanwhile is 409, and the document stays in the trash', async (t) => {
  const ada = await signUp()
  const { source, target } = await translate(ada, [p('one')])
  ok(await ada.delete(`/documents/${target}`))
  const entry = await newest(ada)
  const taken = ok(await ada.post(`/documents/${source.id}/translations`, { locale: 'fr', create_mode: 'blank' }))
  const details = { locale: 'fr', document_id: taken.data.id }
  refused(t, await ada.post(`/trash/${entry}/restore`), { status: 409, code: 'locale_exists', details })
  ok(await ada.delete(`/documents/${taken.data.id}`))
  ok(await ada.post(`/trash/${entry}/restore`))
  t.match(ok(await ada.get(`/documents/${target}`)).data, { locale: 'fr', variant_role: 'translation' })
})

t.test('without a retention nothing is kept, and what has expired is gone at once', async (t) => {
  const own = await sharedService({ TRASH_RETENTION_DAYS: '0' })
  const bob = await own.signUp()
  ok(await bob.delete(`/documents/${(await make(bob, [p('a')])).id}`))
  t.strictSame(ok(await bob.get('/trash')).data, [])
  const ada = await signUp()
  ok(await ada.delete(`/documents/${(await make(ada, [p('a')])).id}`))
  const entry = await newest(ada)
  await database.query(sql.unsafe`UPDATE trash_entries SET expires_at = now() WHERE id = ${entry}`)
  t.strictSame(ok(await ada.get('/trash')).data, [])
  refused(t, await ada.post(`/trash/${entry}/restore`), { status: 404, code: 'trash_not_found' })
  refused(t, await ada.delete(`/trash/${entry}`), { status: 404, code: 'trash_not_found' })
})

t.test('the id of a deleted document stays taken, and a repeated key restores once', async (t) => {
  const ada = await signUp()
  const id = `doc_${Math.random().toString(36).slice(2)}`
  await make(ada, [p('a')], { id })
  ok(await ada.delete(`/documents/${id}`))
  const reply = await ada.post('/documents', { title: 'x', id })
  refused(t, reply, { status: 409, code: 'document_id_conflict' })
  const entry = await newest(ada)
  const key = { 'idempotency-key': 'restore' }
  const first = await ada.post(`/trash/${entry}/restore`, {}, key)
  const second = await ada.post(`/trash/${entry}/restore`, {}, key)
  t.equal(second.headers.get('idempotent-replayed'), 'true')
  t.strictSame(ok(second).data, ok(first).data)
})

async function structure(client: Client) {
  const zoo = ok(await client.post('/knowledge-bases', { name: 'Zoo' })).data.id as number
  const folder = async (name: string, place: object) =>
    ok(await client.post('/folders', { name, ...place })).data.id as number
  const mammals = await folder('Mammals', { knowledge_base_id: zoo })
  return { zoo, mammals, large: await folder('Large', { parent_id: mammals }) }
}

async function newest(client: Client): Promise<string> {
  return ok(await client.get('/trash?limit=1')).data[0].id
}

// A knowledge base with this name, which is made if there is none.
async function anyBase(client: Client, name = 'Any'): Promise<number> {
  const bases: { id: number; name: string }[] = ok(await client.get('/knowledge-bases')).data
  const found = bases.find((base) => base.name === name)
  return found?.id ?? ok(await client.post('/knowledge-bases', { name })).data.id
}
