import { connectMcp, textOf } from '../support/mcp.ts'
import { sharedService } from '../support/service.ts'
import { type Test, t } from '../support/tap.ts'
import { write } from '../support/workers.ts'

const { origin, signUp } = await sharedService()

t.test('an agent makes a folder, moves documents into it and renames both', async (t) => {
  const { ada, call, base } = await start(t)
  const made = await call('organise', { action: 'create_folder', name: 'Animals', to_knowledge_base_id: base })
  t.match(made.structuredContent, { folder: { name: 'Animals', knowledge_base_id: base, parent_id: null } })
  t.match(
    textOf(made),
    /^Created the folder \d+ in knowledge base \d+\.\n.*untrusted[\s\S]*\nAnimals\n/i,
    'a name is no instruction',
  )
  const folder = structured(made).folder.id
  const documents = [await write(ada, 'One.'), await write(ada, 'Two.')]
  const ids = documents.map(({ id }) => id)
  const moved = await call('organise', { action: 'move', document_ids: ids, to_folder_id: folder })
  t.match(moved.structuredContent, {
    documents: documents.map(({ id, version }) => ({ id, version, search: 'missing' })),
  })
  t.notMatch(textOf(moved), /Untrusted/)
  const renamed = await call('organise', { action: 'rename', document_ids: [ids[0]], name: 'First' })
  t.notOk(renamed.isError)
  t.match((await ada.get(`/documents/${ids[0]}`)).body.data, { title: 'First', folder_id: folder })
  await call('organise', { action: 'rename', folder_id: folder, name: 'Beasts' })
  const inner = structured(await call('organise', { action: 'create_folder', name: 'Inner', to_folder_id: folder }))
  await call('organise', { action: 'move', folder_id: inner.folder.id, to_knowledge_base_id: base })
  t.match((await ada.get(`/folders/${inner.folder.id}`)).body.data, { parent_id: null })
  t.match((await ada.get(`/folders/${folder}`)).body.data, { name: 'Beasts' })
})

t.test('an agent tags a document that exists, and what a person adds meanwhile stays', async (t) => {
  const { ada, call } = await start(t)
  const { id, version } = await write(ada, 'Text.', { tags: ['draft', 'Water'], properties: { owner: 'Ada', size: 1 } })
  const change = { add_tags: ['water', 'reviewed'], remove_tags: ['DRAFT'], properties: { owner: null, done: true } }
  const [labelled] = await Promise.all([
    call('organise', { action: 'label', document_ids: [id], ...change }),
    ...['one', 'two', 'three'].map((tag) => call('organise', { action: 'label', document_ids: [id], add_tags: [tag] })),
  ])
  t.notOk(labelled.isError)
  const shown = await call('organise', { action: 'label', document_ids: [id] })
  const { tags, properties } = structured(shown)
  t.same(properties, { size: 1, done: true })
  t.same(tags.toSorted(), ['Water', 'one', 'reviewed', 'three', 'two'])
  t.match(textOf(shown), /^The document doc_\w+ has 5 tags and 2 properties\.[\s\S]*untrusted[\s\S]*reviewed/i)
  t.match((await ada.get(`/documents/${id}`)).body.data, { tags, properties, version })
  const refused = await call('organise', { action: 'label', document_ids: [id], add_tags: many(51) })
  t.match(structured(refused).error, { code: 'invalid_request' })
})

t.test('what an agent deletes goes to the trash, and the answer says how to get it back', async (t) => {
  const { ada, call, base } = await start(t)
  await ada.delete(`/documents/${(await write(ada, 'Deleted before.')).id}`)
  const folder = (await ada.post('/folders', { name: 'Folder', knowledge_base_id: base })).body.data.id
  const document = await write(ada, 'Kept text.', { title: 'Kept\nItem', folder_id: folder })
  const other = await write(ada, 'Other.')
  const deleted = await call('delete', { document_ids: [document.id, other.id] })
  t.match(deleted.structuredContent, { deleted: [document.id, other.id], trash: [{ type: 'document' }, {}] })
  t.equal(structured(deleted).trash.length, 2)
  t.match(textOf(deleted), /Untrusted text/, 'titles are fenced')
  const entry = structured(deleted).trash.find(({ name }: { name: string }) => name.startsWith('Kept'))
  const restored = await call('restore', { trash_id: entry.id })
  t.match(restored.structuredContent, {
    restored: { type: 'document', id: document.id, not_restored: [] },
    documents: [{ id: document.id, version: document.version }],
  })
  t.match((await ada.get(`/documents/${document.id}`)).body.data, { folder_id: folder })
  const gone = structured(await call('delete', { folder_id: folder }))
  t.match(gone, { deleted: [folder], trash: [{ type: 'folder', name: 'Folder' }] })
  const back = structured(await call('restore', { trash_id: gone.trash[0].id }))
  t.match(back, { restored: { type: 'folder', id: folder } })
})

t.test('agents that delete at the same time get their own entries of the trash, and those alone', async (t) => {
  const { ada, call } = await start(t)
  const documents = await Promise.all(['One', 'Two', 'Three'].map((title) => write(ada, 'Text.', { title })))
  const answers = await Promise.all(documents.map(({ id }) => call('delete', { document_ids: [id] })))
  const names = answers.map((answer) => structured(answer).trash.map(({ name }: { name: string }) => name))
  t.same(names, [['One'], ['Two'], ['Three']])
})

t.test('an agent that follows the cursors sees every folder and document', async (t) => {
  const { ada, call, base } = await start(t)
  const folder = (await ada.post('/folders', { name: 'Long', knowledge_base_id: base })).body.data.id
  const ids: string[] = []
  for (let n = 0; n < 60; n += 1)
    ids.push((await write(ada, '', { title: `Note ${n} ${'x'.repeat(60)}`, folder_id: folder })).id)
  const seen = async (args: object) => {
    const shown: { type: string; id: string }[] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = structured(await call('browse', { ...args, max_tokens: 1000, ...(cursor && { cursor }) }))
      shown.push(...page.items)
      cursor = page.next_cursor
    }
    return shown.filter(({ type }) => type === 'document').map(({ id }) => id)
  }
  t.same((await seen({ folder_id: folder })).sort(), ids.toSorted())
  t.same((await seen({ knowledge_base_id: base })).sort(), ids.toSorted())
  t.match(structured(await call('browse', { knowledge_base_id: base, cursor: 'x' })).error, { code: 'invalid_cursor' })
})

t.test('an agent pages through the trash and finds a deletion by its name', async (t) => {
  const { ada, call } = await start(t)
  const ids: string[] = []
  for (let n = 0; n < 30; n += 1) ids.push((await write(ada, 'Text.', { title: `Note ${n}` })).id)
  await ada.post('/documents/delete', { ids })
  const first = structured(await call('restore'))
  const second = structured(await call('restore', { cursor: first.next_cursor }))
  t.equal(first.trash.length + second.trash.length, 30)
  t.equal(second.next_cursor, null)
  t.match(structured(await call('restore', { query: 'note 17' })).trash, [{ name: 'Note 17' }])
})

t.test('an agent that guards a deletion does not delete what a person has just written', async (t) => {
  const { ada, call } = await start(t)
  const { id, version } = await write(ada, 'Text.')
  await ada.put(
    `/documents/${id}/content`,
    { format: 'markdown', content: 'By a person.' },
    { 'if-match': `"${version}"` },
  )
  const refused = await call('delete', { document_ids: [id], version })
  t.match(refused, { isError: true, structuredContent: { error: { code: 'version_conflict', next: String } } })
  t.equal((await ada.get(`/documents/${id}`)).status, 200)
})

t.test('arguments that do not fit together are refused with the arguments to correct', async (t) => {
  const { call, base } = await start(t)
  const wrong: [string, object, string][] = [
    ['organise', { action: 'rename', document_ids: ['doc_1', 'doc_2'], name: 'x' }, '/document_ids'],
    ['organise', { action: 'rename', document_ids: ['doc_1'] }, '/name'],
    ['organise', { action: 'label', document_ids: ['doc_1', 'doc_2'] }, '/document_ids'],
    ['organise', { action: 'move', document_ids: ['doc_1'] }, '/to_folder_id'],
    ['organise', { action: 'move', document_ids: ['doc_1'], folder_id: 1, to_folder_id: 2 }, '/folder_id'],
    ['organise', { action: 'create_folder', to_knowledge_base_id: base }, '/name'],
    ['delete', {}, '/document_ids'],
    ['delete', { document_ids: ['doc_1', 'doc_2'], version: `sha256:${'0'.repeat(64)}` }, '/version'],
    ['delete', { folder_id: 1, version: `sha256:${'0'.repeat(64)}` }, '/version'],
    ['read', { document_id: 'doc_1', seq: 1, locale: 'de' }, '/locale'],
    ['relations', {}, '/document_id'],
    ['concepts', { action: 'accept' }, '/candidate_id'],
    ['summarise', { folder_id: 1, section: 'b_1' }, '/section'],
    ['translate', { action: 'request', document_id: 'doc_1' }, '/locale'],
  ]
  for (const [name, args, path] of wrong) {
    const { error } = structured(await call(name, args))
    t.match(error, { code: 'invalid_request', details: { fields: [{ path }] } }, `${name} ${JSON.stringify(args)}`)
  }
})

t.test('a viewer cannot change anything through the tools, and is told why', async (t) => {
  const { id } = await write(await signUp({ workspace: 'Shared' }), 'Text.')
  const viewer = await signUp({ workspace: 'Shared', role: 'viewer' })
  const { call } = await connectMcp(t, { origin, token: viewer.token })
  for (const [name, args] of [
    ['organise', { action: 'rename', document_ids: [id], name: 'x' }],
    ['delete', { document_ids: [id] }],
  ] as const)
    t.match(structured(await call(name, args)).error, { code: 'forbidden', next: /role/ })
})

const many = (count: number) => Array.from({ length: count }, (_, n) => `tag${n}`)

async function start(t: Test) {
  const ada = await signUp()
  const { call } = await connectMcp(t, { origin, token: ada.token })
  const base = (await ada.post('/knowledge-bases', { name: 'Zoo' })).body.data.id as number
  return { ada, call, base }
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
function structured(result: { structuredContent?: unknown }): any {
  return result.structuredContent
}
