import { sql } from '../../shared/database/database.ts'
import { h, node, p } from '../document/build.ts'
import { bodyOf, eventsOf, make, put, refused, shape } from '../support/documents.ts'
import { startTestService } from '../support/service.ts'
import { t } from '../support/tap.ts'

const { signUp, database } = await startTestService(t)

t.test('a title alone makes a document, in a knowledge base that is made for it', async (t) => {
  const ada = await signUp()
  const created = await ada.post('/documents', { title: '  Notes ' })
  t.equal(created.status, 201)
  const { data } = created.body
  t.equal(created.headers.get('location'), `/api/v1/documents/${data.id}`)
  t.equal(created.headers.get('etag'), `"${data.version}"`, 'of the new body, for the first write')
  const bases = (await ada.get('/knowledge-bases')).body.data
  t.match(bases, [{ name: 'Default', document_count: 1 }])
  const { version, ...rest } = data
  t.match(version, /^sha256:[0-9a-f]{64}$/)
  t.strictSame(rest, {
    id: data.id,
    uri: `svc://doc/${data.id}`,
    title: 'Notes',
    document_type: 'document',
    workspace_id: ada.workspace_id,
    knowledge_base_id: bases[0].id,
    folder_id: null,
    heading_numbered: false,
    background_color: null,
    collapsed_block_ids: [],
    tags: [],
    properties: {},
    character_count: 0,
    created_at: data.updated_at,
    updated_at: data.created_at,
    created_by: ada.user_id,
    updated_by: ada.user_id,
    document_set_id: null,
    document_set_uri: null,
    locale: null,
    variant_role: null,
    workflow_status: null,
    translation_freshness: 'current',
    translated_from_document_id: null,
    translated_from_version: null,
    warnings: [],
  })
  t.match(data.id, /^doc_[0-9A-HJKMNP-TV-Z]{26}$/)

  const body = await bodyOf(ada, data.id)
  t.equal(body.version, version)
  t.strictSame(shape(body.blocks), [{ attrs: {}, type: 'paragraph' }], 'one empty paragraph')
  t.strictSame((await ada.get(`/documents/${data.id}/versions`)).body.data, [], 'creation keeps no version')
  t.strictSame(await eventsOf(database, data.id), ['document.created'])

  const second = await ada.post('/documents', { title: 'More' })
  t.equal(second.body.data.knowledge_base_id, bases[0].id, 'the next one goes to the same place')
})

t.test('without a place a document goes to the lowest knowledge base of the oldest workspace', async (t) => {
  const ada = await signUp()
  const first = (await ada.post('/knowledge-bases', { name: 'First' })).body.data.id
  await ada.post('/knowledge-bases', { name: 'Second' })
  t.equal((await ada.post('/documents', { title: 'x' })).body.data.knowledge_base_id, first)
  t.equal((await ada.post('/documents', { title: 'x', folder_id: null })).body.data.knowledge_base_id, first)
})

t.test('a place is named by number or decimal string, and must be consistent and visible', async (t) => {
  const ada = await signUp()
  const base = (await ada.post('/knowledge-bases', { name: 'A' })).body.data.id
  const other = (await ada.post('/knowledge-bases', { name: 'B' })).body.data.id
  const folder = (await ada.post('/folders', { name: 'f', knowledge_base_id: other })).body.data.id
  const create = (members: object) => ada.post('/documents', { title: 'x', ...members })

  t.match((await create({ knowledge_base_id: String(other) })).body.data, { knowledge_base_id: other, folder_id: null })
  t.match((await create({ folder_id: String(folder) })).body.data, { knowledge_base_id: other, folder_id: folder })
  t.match((await create({ knowledge_base_id: other, folder_id: folder })).body.data, { folder_id: folder })
  refused(t, await create({ knowledge_base_id: base, folder_id: folder }), {
    status: 400,
    code: 'folder_knowledge_base_mismatch',
  })
  for (const knowledge_base_id of [0, -1, 1.5, '01', 'x', '', null, true]) {
    const reply = await create({ knowledge_base_id })
    t.match(reply.body.error, { code: 'invalid_request', details: { fields: [{ path: '/knowledge_base_id' }] } })
  }
  refused(t, await create({ knowledge_base_id: 999_999 }), {
    status: 404,
    code: 'knowledge_base_not_found',
    details: { id: 999_999, field: 'knowledge_base_id' },
  })
  refused(t, await create({ folder_id: 999_999 }), {
    status: 404,
    code: 'folder_not_found',
    details: { id: 999_999, field: 'folder_id' },
  })
  for (const [member, code] of [
    ['knowledge_base_id', 'knowledge_base_not_found'],
    ['folder_id', 'folder_not_found'],
  ] as const) {
    const id = '9999999999999999'
    refused(t, await create({ [member]: id }), { status: 404, code, details: { id, field: member } })
  }
  const stranger = await signUp()
  const theirs = { title: 'x', knowledge_base_id: base }
  refused(t, await stranger.post('/documents', theirs), { status: 404, code: 'knowledge_base_not_found' })
})

t.test('metadata are validated with the path of what is wrong', async (t) => {
  const ada = await signUp()
  const { id } = await make(ada, [p('x')])
  const wrong: [object, string][] = [
    [{ title: '' }, '/title'],
    [{ title: '   ' }, '/title'],
    [{ title: 'x'.repeat(501) }, '/title'],
    [{ title: 7 }, '/title'],
    [{ title: null }, '/title'],
    [{ title: 'a\u0000b' }, '/title'],
    [{ title: '\ud800' }, '/title'],
    [{ heading_numbered: 'yes' }, '/heading_numbered'],
    [{ heading_numbered: null }, '/heading_numbered'],
    [{ background_color: 'x'.repeat(65) }, '/background_color'],
    [{ collapsed_block_ids: ['x'.repeat(65)] }, '/collapsed_block_ids/0'],
    [{ collapsed_block_ids: Array.from({ length: 1001 }, () => 'x') }, '/collapsed_block_ids'],
    [{ collapsed_block_ids: null }, '/collapsed_block_ids'],
  ]
  for (const [members, path] of wrong) {
    const created = await ada.post('/documents', { title: 'x', ...members })
    t.match(created, { status: 400, body: { error: { code: 'invalid_request' } } })
    t.equal(created.body.error.details.fields[0].path, path)
    t.match(await ada.patch(`/documents/${id}`, members), {
      status: 400,
      body: { error: { details: { fields: [{ path }] } } },
    })
  }
  t.match((await ada.post('/documents', {})).body.error.details, { fields: [{ path: '/title' }] })
  t.equal((await ada.post('/documents', { title: 'x', document_type: 'sheet' })).status, 400)
  const accepted = { title: '𝔸'.repeat(500), background_color: '', collapsed_block_ids: ['not a block'], unknown: {} }
  t.match((await ada.patch(`/documents/${id}`, accepted)).body.data, {
    title: accepted.title,
    background_color: '',
    collapsed_block_ids: ['not a block'],
  })
})

t.test('a client may choose the id, once for ever and for all workspaces', async (t) => {
  const [ada, bob] = [await signUp(), await signUp()]
  const id = `doc_Ab-_${ada.user_id.slice(-10)}`
  const created = await ada.post('/documents', { title: 'x', id })
  t.match(created.body.data, { id, uri: `svc://doc/${id}` })
  const conflict = { status: 409, code: 'document_id_conflict', details: { id } }
  refused(t, await ada.post('/documents', { title: 'x', id }), conflict)
  refused(t, await bob.post('/documents', { title: 'x', id }), conflict)
  t.equal((await ada.delete(`/documents/${id}`)).status, 204)
  refused(t, await ada.post('/documents', { title: 'x', id }), conflict)
  for (const malformed of ['doc_', 'x', 'doc_a b', 'doc_é', `doc_${'x'.repeat(65)}`, 'DOC_a', 'doc_a\n', null, 7]) {
    const reply = await ada.post('/documents', { title: 'x', id: malformed })
    t.match(reply, { status: 400, body: { error: { details: { fields: [{ path: '/id' }] } } } }, String(malformed))
  }
  const free = `${id}2`
  const bad = { format: 'tiptap-json', document: { type: 'doc', content: [{ type: 'nope' }] } }
  refused(t, await ada.post('/documents', { title: 'x', id: free, content: bad }), {
    status: 422,
    code: 'invalid_node',
  })
  t.equal((await ada.post('/documents', { title: 'x', id: free })).status, 201, 'a refused request uses nothing up')
})

t.test('a document is born with its content', async (t) => {
  const ada = await signUp()
  const markdown = { format: 'markdown', content: '# Title\n\n[bad](javascript:x) and **bold**\n' }
  const created = (await ada.post('/documents', { title: 'x', content: markdown })).body.data
  t.match(created.warnings, [{ code: 'link_removed' }])
  t.equal(created.character_count, 'Title'.length + 'bad and bold'.length)
  const { blocks } = await bodyOf(ada, created.id)
  t.match(blocks, [{ type: 'heading' }, { type: 'paragraph' }])
  t.strictSame(await eventsOf(database, created.id), ['document.created'], 'one event, content or not')
  t.strictSame((await ada.get(`/documents/${created.id}/versions`)).body.data, [])

  const refusedContent = (content: unknown) => ada.post('/documents', { title: 'x', content })
  for (const content of [{}, { format: 'markdown' }, { format: 'html', content: '' }, { format: 'tiptap-json' }, 'x']) {
    t.match(await refusedContent(content), { status: 400, body: { error: { code: 'invalid_request' } } })
  }
  const unknownNode = { type: 'doc', content: [p('x'), { type: 'nope' }] }
  refused(t, await refusedContent({ format: 'tiptap-json', document: unknownNode }), {
    status: 422,
    code: 'invalid_node',
    details: { path: '/content/document/content/1', reason: 'there is no node type "nope"' },
  })
  const lost = { type: 'doc', content: [node('image', { attachmentId: 'att_01ARZ3NDEKTSV4RRFFQ69G5FAV' })] }
  refused(t, await refusedContent({ format: 'tiptap-json', document: lost }), {
    status: 422,
    code: 'attachment_not_found',
  })
})

t.test('a spreadsheet starts as a table of three by three and is a document like any other', async (t) => {
  const ada = await signUp()
  const created = (await ada.post('/documents', { title: 'x', document_type: 'spreadsheet' })).body.data
  t.equal(created.document_type, 'spreadsheet')
  const { blocks, etag } = await bodyOf(ada, created.id)
  const cell = (type: string) => ({ attrs: {}, content: [{ attrs: {}, type: 'paragraph' }], type })
  const row = (type: string) => ({ attrs: {}, content: [cell(type), cell(type), cell(type)], type: 'tableRow' })
  const rows = [row('tableHeader'), row('tableCell'), row('tableCell')]
  t.strictSame(shape(blocks), [{ attrs: {}, content: rows, type: 'table' }])
  t.equal((await put(ada, created.id, [p('plain text')], etag)).status, 200)
  const patched = await ada.patch(`/documents/${created.id}`, { document_type: 'document' })
  t.equal(patched.body.data.document_type, 'spreadsheet', 'the label cannot be changed')
  const content = { format: 'markdown', content: 'own' }
  const own = (await ada.post('/documents', { title: 'x', document_type: 'spreadsheet', content })).body.data
  t.match((await bodyOf(ada, own.id)).blocks, [{ type: 'paragraph' }])
})

t.test('a change of metadata changes what it names and nothing else', async (t) => {
  const ada = await signUp()
  const { id, version } = await make(ada, [p('x')])
  const before = (await ada.get(`/documents/${id}`)).body.data
  const members = { title: ' New ', heading_numbered: true, background_color: 'red', collapsed_block_ids: ['a'] }
  const patched = await ada.patch(`/documents/${id}`, members)
  t.equal(patched.headers.get('etag'), null)
  t.strictSame(patched.body.data, { ...before, ...members, title: 'New', updated_at: patched.body.data.updated_at })
  t.ok(patched.body.data.updated_at >= before.updated_at)
  t.equal(patched.body.data.version, version, 'metadata are no part of the version')
  t.strictSame((await ada.get(`/documents/${id}`)).body.data, patched.body.data)
  t.equal((await ada.patch(`/documents/${id}`, { background_color: null })).body.data.background_color, null)
  t.strictSame((await ada.get(`/documents/${id}/versions`)).body.data, [], 'metadata have no versions')
})

t.test('a change that changes nothing leaves the time alone and tells nobody', async (t) => {
  const ada = await signUp()
  const { id } = await make(ada, [p('x')], { title: 'Same', background_color: 'red' })
  const before = (await ada.get(`/documents/${id}`)).body.data
  for (const members of [{}, { title: ' Same ' }, { background_color: 'red', collapsed_block_ids: [] }]) {
    t.strictSame((await ada.patch(`/documents/${id}`, members)).body.data, before)
  }
  const place = { knowledge_base_id: before.knowledge_base_id, folder_id: null }
  t.strictSame((await ada.patch(`/documents/${id}`, place)).body.data, before)
  t.strictSame(await eventsOf(database, id), ['document.created'])
  await ada.patch(`/documents/${id}`, { title: 'Other' })
  t.strictSame(await eventsOf(database, id), ['document.created', 'document.metadata.updated'])
})

t.test('a document moves by folder, by knowledge base, and never out of its workspace', async (t) => {
  const ada = await signUp({ workspace: 'Movers' })
  const from = (await ada.post('/knowledge-bases', { name: 'From' })).body.data.id
  const to = (await ada.post('/knowledge-bases', { name: 'To' })).body.data.id
  const folder = (await ada.post('/folders', { name: 'f', knowledge_base_id: to })).body.data.id
  const { id } = await make(ada, [p('x')], { knowledge_base_id: from })
  const move = async (members: object) => ada.patch(`/documents/${id}`, members)
  t.match((await move({ folder_id: folder })).body.data, { knowledge_base_id: to, folder_id: folder })
  t.match((await move({ knowledge_base_id: String(to) })).body.data, { knowledge_base_id: to, folder_id: null })
  await move({ folder_id: folder })
  t.match((await move({ folder_id: null })).body.data, { knowledge_base_id: to, folder_id: null })
  await move({ folder_id: folder })
  t.match((await move({ knowledge_base_id: from })).body.data, { knowledge_base_id: from, folder_id: null })
  refused(t, await move({ knowledge_base_id: from, folder_id: folder }), {
    status: 400,
    code: 'folder_knowledge_base_mismatch',
  })
  refused(t, await move({ folder_id: 999_999 }), {
    status: 404,
    code: 'folder_not_found',
    details: { id: 999_999, field: 'folder_id' },
  })
  const other = await signUp({ workspace: 'Elsewhere' })
  await signUp({ workspace: 'Elsewhere', email: ada.email, role: 'editor' })
  const theirs = (await other.post('/knowledge-bases', { name: 'Theirs' })).body.data.id
  refused(t, await move({ knowledge_base_id: theirs }), { status: 400, code: 'cross_workspace_move' })
  t.equal((await ada.get(`/documents/${id}`)).body.data.knowledge_base_id, from)
})

t.test('the path names the knowledge base, the folders and the document, root first', async (t) => {
  const ada = await signUp()
  const base = (await ada.post('/knowledge-bases', { name: 'Docs' })).body.data.id
  const outer = (await ada.post('/folders', { name: 'Guides', knowledge_base_id: base })).body.data.id
  const inner = (await ada.post('/folders', { name: 'a / b', parent_id: outer })).body.data.id
  const { id } = await make(ada, [p('x')], { title: 'Title', folder_id: inner })
  t.strictSame((await ada.get(`/documents/${id}/path`)).body.data, {
    document_id: id,
    knowledge_base: { id: base, name: 'Docs' },
    folders: [
      { id: outer, name: 'Guides' },
      { id: inner, name: 'a / b' },
    ],
    path: [
      { id: base, name: 'Docs', type: 'knowledge_base' },
      { id: outer, name: 'Guides', type: 'folder' },
      { id: inner, name: 'a / b', type: 'folder' },
      { id, name: 'Title', type: 'document' },
    ],
    path_text: 'Docs / Guides / a / b / Title',
  })
  await ada.patch(`/documents/${id}`, { knowledge_base_id: base })
  t.match((await ada.get(`/documents/${id}/path`)).body.data, { folders: [], path_text: 'Docs / Title' })
})

t.test('changes and deletion of a document may be held against the version of its body', async (t) => {
  const ada = await signUp()
  const { id, etag, version, blocks } = await make(ada, [p('one'), p('two')])
  const written = await put(ada, id, [p('other'), ...blocks.slice(1)], etag)
  const current = written.body.data.version
  const changed = [written.body.data.document.content[0].attrs.id, blocks[0]?.attrs.id]
  const path = `/documents/${id}`
  for (const call of [
    (guard: string) => ada.patch(path, { title: 'x' }, { 'if-match': guard }),
    (guard: string) => ada.delete(path, undefined, { 'if-match': guard }),
  ]) {
    const stale = await call(etag)
    refused(t, stale, {
      status: 409,
      code: 'version_conflict',
      details: { provided: version, current_version: current, changed_block_ids: changed },
    })
    t.equal(stale.headers.get('etag'), `"${current}"`)
    refused(t, await call(`W/"${current}"`), { status: 409, code: 'version_conflict' })
    for (const guard of ['nonsense', 'concept:1', ',']) {
      refused(t, await call(guard), { status: 400, code: 'invalid_precondition', details: { header: 'If-Match' } })
    }
    refused(t, await call('"concept:1"'), { status: 409, code: 'version_conflict' })
  }
  t.equal((await ada.patch(path, { title: 'y' }, { 'if-match': '*' })).status, 200)
  t.equal((await ada.patch(path, { title: 'z' }, { 'if-match': current })).status, 200, 'bare')
  t.equal((await ada.delete(path, undefined, { 'if-match': `${etag} , , "${current}"` })).status, 204)
})

t.test('of several faults the first in the order of checks is told', async (t) => {
  const owner = await signUp({ workspace: 'Checked' })
  const viewer = await signUp({ workspace: 'Checked', role: 'viewer' })
  const reader = await signUp({ workspace: 'Checked', role: 'editor', scopes: ['documents:read'] })
  const stranger = await signUp()
  const { id } = await make(owner, [p('x')])
  const path = `/documents/${id}`
  const stale = { 'if-match': `"sha256:${'0'.repeat(64)}"` }
  const scope = { status: 403, code: 'insufficient_scope', details: { required_scopes: ['documents:write'] } }
  refused(t, await reader.patch(path, { title: '' }, stale), scope)
  refused(t, await reader.delete('/documents/doc_none'), scope)
  refused(t, await reader.post('/documents', {}), scope)
  refused(t, await stranger.patch(path, { title: '' }, stale), { status: 400, code: 'invalid_request' })
  refused(t, await stranger.patch(path, { title: 'x' }, stale), {
    status: 404,
    code: 'document_not_found',
    details: { id },
  })
  refused(t, await stranger.delete(path, undefined, stale), { status: 404, code: 'document_not_found' })
  const forbidden = { status: 403, code: 'forbidden', details: { required_role: 'editor' } }
  refused(t, await viewer.patch(path, { title: 'x' }, stale), forbidden)
  refused(t, await viewer.delete(path, undefined, stale), forbidden)
  refused(t, await viewer.post('/documents', { title: 'x', id }), forbidden)
  refused(t, await owner.patch(path, { folder_id: 999_999 }, stale), { status: 404, code: 'folder_not_found' })
  refused(t, await owner.patch(path, { title: 'x' }, stale), { status: 409, code: 'version_conflict' })
  const bad = { format: 'tiptap-json', document: { type: 'nope' } }
  refused(t, await owner.post('/documents', { title: 'x', folder_id: 999_999, id, content: bad }), {
    status: 404,
    code: 'folder_not_found',
  })
  refused(t, await owner.post('/documents', { title: 'x', id, content: bad }), {
    status: 409,
    code: 'document_id_conflict',
  })
  t.equal((await viewer.get(path)).status, 200)
  t.equal((await viewer.get(`${path}/path`)).status, 200)
  for (const suffix of ['', '/path']) {
    refused(t, await stranger.get(path + suffix), { status: 404, code: 'document_not_found', details: { id } })
    refused(t, await owner.get(`/documents/nonsense${suffix}`), {
      status: 404,
      code: 'document_not_found',
      details: { id: 'nonsense' },
    })
  }
})

t.test('a repeated create with the same key makes one document', async (t) => {
  const ada = await signUp()
  const key = { 'idempotency-key': 'create' }
  const input = { title: 'x', content: { format: 'markdown', content: 'text' } }
  const first = await ada.post('/documents', input, key)
  const again = await ada.post('/documents', input, key)
  t.equal(again.status, 201)
  t.strictSame(again.body.data, first.body.data)
  t.equal(again.headers.get('location'), first.headers.get('location'))
  t.equal(again.headers.get('idempotent-replayed'), 'true')
  refused(t, await ada.post('/documents', { ...input, title: 'y' }, key), {
    status: 409,
    code: 'idempotency_key_reused',
  })
  t.strictSame(await eventsOf(database, first.body.data.id), ['document.created'])
  t.equal((await ada.get('/documents')).body.data.length, 1)
  await ada.delete(`/documents/${first.body.data.id}`)
  t.equal((await ada.post('/documents', input, key)).status, 201, 'also when it is gone')
})

t.test('a deleted document is gone with its body, its versions and its index, its history stays', async (t) => {
  const ada = await signUp()
  const { id, etag } = await make(ada, [h(1, 'Title'), p('one')])
  await put(ada, id, [p('two')], etag)
  const kept = await make(ada, [p('kept')])
  await put(ada, kept.id, [p('changed')])
  await database.query(sql.unsafe`
    INSERT INTO search_documents (workspace_id, document_id, source_version, body_seq, title, language, epoch, outline)
    VALUES (${ada.workspace_id}, ${id}, 'v', 1, 'Document', 'english', 1, '{}')`)
  await database.query(sql.unsafe`
    INSERT INTO search_blocks (workspace_id, document_id, ord, type, length, hash, body, tsv)
    VALUES (${ada.workspace_id}, ${id}, 0, 'title', 1, 'h', 'Document', '')`)
  t.match(await rowsNaming(id), {
    document_bodies: 2,
    document_versions: 1,
    search_blocks: 1,
    stale_projections: Number,
  })
  const deleted = await ada.delete(`/documents/${id}`)
  t.equal(deleted.status, 204)
  t.equal(deleted.text, '')
  for (const path of ['', '/path', '/content', '/outline', '/read', '/versions', '/blocks']) {
    refused(t, await ada.get(`/documents/${id}${path}`), { status: 404, code: 'document_not_found', details: { id } })
  }
  refused(t, await ada.delete(`/documents/${id}`), { status: 404, code: 'document_not_found' })
  refused(t, await put(ada, id, [p('x')]), { status: 404, code: 'document_not_found' })
  const { trash_entries: entries, trash_rows: rows, ...others } = await rowsNaming(id)
  t.strictSame([entries, rows], [1, 6], 'the trash alone has what is left')
  t.strictSame(others, { audit_log: 3, document_directory: 1, events: 3 })
  t.ok(Object.keys(await rowsNaming(kept.id)).includes('document_versions'), 'others are untouched')
  t.strictSame(await eventsOf(database, id), ['document.created', 'document.content.updated', 'document.deleted'])
})

t.test('a document names who made it and who changed it last', async (t) => {
  const ada = await signUp({ workspace: 'Authors' })
  const bob = await signUp({ workspace: 'Authors', role: 'editor' })
  const { id, blocks } = await make(ada, [p('x')])
  const authors = async () => {
    const { created_by, updated_by } = (await ada.get(`/documents/${id}`)).body.data
    return [created_by, updated_by]
  }
  await bob.patch(`/documents/${id}`, { title: 'Document' })
  await put(bob, id, blocks)
  t.strictSame(await authors(), [ada.user_id, ada.user_id], 'what changed nothing was nobody')
  await put(bob, id, [p('y')])
  t.strictSame(await authors(), [ada.user_id, bob.user_id])
  await ada.patch(`/documents/${id}`, { title: 'Other' })
  t.strictSame(await authors(), [ada.user_id, ada.user_id])
  const writers = (await ada.get(`/documents/${id}/versions`)).body.data
  t.match(writers, [{ created_by: bob.user_id }, { created_by: bob.user_id }])
})

t.test('the oldest membership says where a document without a place goes; without one there is no place', async (t) => {
  const ada = await signUp({ workspace: 'Oldest' })
  await signUp({ workspace: 'Later', email: ada.email })
  t.equal((await ada.post('/documents', { title: 'x' })).body.data.workspace_id, ada.workspace_id)
  await database.query(sql.unsafe`DELETE FROM memberships WHERE user_id = ${ada.user_id}`)
  refused(t, await ada.post('/documents', { title: 'x' }), { status: 404, code: 'workspace_not_found' })
})

t.test('the quota of documents is exact, and the last thing that is checked', async (t) => {
  const limited = await startTestService(t, { QUOTA_DOCUMENTS: '3' })
  const ada = await limited.signUp()
  const replies = await Promise.all(Array.from({ length: 8 }, () => ada.post('/documents', { title: 'x' })))
  t.equal(replies.filter(({ status }) => status === 201).length, 3)
  const full = { status: 409, code: 'quota_exceeded', details: { quota: 'documents', limit: 3, used: 3 } }
  for (const reply of replies.filter(({ status }) => status !== 201)) refused(t, reply, full)
  const [{ id }] = (await ada.get('/documents')).body.data
  const bad = { format: 'tiptap-json', document: { type: 'nope' } }
  refused(t, await ada.post('/documents', { title: 'x', content: bad }), { status: 422, code: 'invalid_node' })
  refused(t, await ada.post('/documents', { title: 'x', id }), { status: 409, code: 'document_id_conflict' })
  await ada.delete(`/documents/${id}`)
  t.equal((await ada.post('/documents', { title: 'x' })).status, 201, 'what was deleted makes room')
})

/** Counts the rows of every table that name a document. */
async function rowsNaming(id: string): Promise<Record<string, number>> {
  const columns = await database.any(sql.unsafe`
    SELECT table_name, column_name FROM information_schema.columns
    WHERE table_schema = 'public' AND data_type = 'text'
      AND (column_name = 'document_id' OR (column_name = 'id' AND table_name IN ('documents', 'document_directory')))
    ORDER BY table_name`)
  const counts: Record<string, number> = {}
  for (const { table_name, column_name } of columns as { table_name: string; column_name: string }[]) {
    const table = sql.identifier([table_name])
    const count = await database.oneFirst(sql.unsafe`
      SELECT count(*) FROM ${table} WHERE ${sql.identifier([column_name])} = ${id}`)
    if (Number(count) > 0) counts[table_name] = Number(count)
  }
  return counts
}
