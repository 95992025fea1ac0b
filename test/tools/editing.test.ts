import type { BlockNode } from '../../shared/body/document.ts'
import { plainText } from '../../shared/body/text.ts'
import { workersOf } from '../../workers/types.ts'
import { h, p, ul } from '../document/build.ts'
import { bodyOf, eventsOf, make } from '../support/documents.ts'
import { connectMcp, type McpClient, textOf, tokensOf } from '../support/mcp.ts'
import { startTestService } from '../support/service.ts'
import { t } from '../support/tap.ts'
import { startWorkers } from '../support/workers.ts'

const service = await startTestService(t, { VERSIONS_RETENTION: '50' })
await startWorkers(t, service, workersOf(['search']))
const { origin, signUp, database } = service

type Call = McpClient['call']
// biome-ignore lint/suspicious/noExplicitAny: tests look into structured content of every shape
const of = async (result: ReturnType<Call>): Promise<any> => (await result).structuredContent

for (const era of ['modern', 'legacy'] as const) {
  t.test(`an agent finds a sentence, corrects it and sees the difference in two small calls (${era})`, async (t) => {
    const ada = await signUp()
    for (let index = 0; index < 30; index += 1)
      await make(ada, [h(1, `Animals ${index}`), p(`Animal ${index} sleeps.`)])
    const made = await make(ada, [h(1, 'Water'), p('Elephants drink a hundred litres a day.'), p('They bathe.')])
    const { call } = await connectMcp(t, { origin, token: ada.token, era })
    const searched = await call('search', { q: 'elephants "hundred litres"' })
    const [hit] = (searched.structuredContent as { hits: Record<string, string>[] }).hits
    t.match(hit, {
      document_id: made.id,
      block_id: made.blocks[1]?.attrs.id,
      version: made.version,
      text: 'Elephants drink a hundred litres a day.',
    })
    const edit = { op: 'replace', find: 'a hundred litres', replace: '150 litres', block_id: hit?.['block_id'] }
    const edited = await call('edit', { document_id: made.id, edits: [{ ...edit, if_match: hit?.['hash'] }] })
    t.notOk(edited.isError, textOf(edited))
    const shown = 'Elephants drink [-a hundred-]{+150+} litres a day.'
    t.match(edited.structuredContent, { version: (await bodyOf(ada, made.id)).version, dry_run: false, omitted: 0 })
    t.match(edited.structuredContent, { changed_blocks: [{ op: 'modified', block_id: edit.block_id, text: shown }] })
    t.match(textOf(edited), shown, 'clients that show only the text show the difference as well')
    t.ok(tokensOf(searched) + tokensOf(edited) < 3000, `${tokensOf(searched)} + ${tokensOf(edited)} tokens`)
    const { changed_blocks: [changed] = [] } = edited.structuredContent as { changed_blocks?: { hash: string }[] }
    const block = (await ada.get(`/documents/${made.id}/blocks/${edit.block_id}`)).body.data
    t.equal(changed?.hash, block.hash, 'the new hash guards the next edit')
  })
}

t.test('after a conflict, the agent is told which call comes next, and comes to its end with it', async (t) => {
  const { ada, made, call } = await workspace(t)
  const block_id = made.blocks[1]?.attrs.id
  const { hash } = (await ada.get(`/documents/${made.id}/blocks/${block_id}`)).body.data
  await ada.patch(`/documents/${made.id}/blocks/${block_id}`, {
    content: [{ type: 'text', text: 'A new first text.' }],
  })
  const edits = [{ op: 'replace_block', block_id, markdown: 'mine', if_match: hash }]
  const refused = await call('edit', { document_id: made.id, edits })
  t.ok(refused.isError)
  const { error } = refused.structuredContent as { error: Record<string, unknown> }
  t.match(error, { code: 'version_conflict', details: { current_hash: String, block_id } })
  t.match(error, { next_call: { tool: 'read', arguments: { document_id: made.id, around: block_id } } })
  t.match(textOf(refused), /Next: .*if_match/)
  const { tool, arguments: args } = error['next_call'] as { tool: string; arguments: object }
  const read = await of(call(tool, args))
  const present = new RegExp(`<!-- block=${block_id} (sha256:[0-9a-f]{64}) -->\nA new first text\\.`).exec(read.text)
  t.ok(present, read.text)
  const again = await call('edit', { document_id: made.id, edits: [{ ...edits[0], if_match: present?.[1] }] })
  t.notOk(again.isError, textOf(again))
  t.equal(plainText((await bodyOf(ada, made.id)).blocks[1] as BlockNode), 'mine')
})

t.test('a stale version, a missing and an ambiguous text each name what to do', async (t) => {
  const { ada, made, call } = await workspace(t)
  await ada.post(`/documents/${made.id}/content/edit`, { edits: [{ op: 'append', markdown: 'second text' }] })
  const errorOf = async (args: object) => (await of(call('edit', { document_id: made.id, ...args }))).error
  const stale = await errorOf({ edits: [{ op: 'append', markdown: 'x' }], base_version: made.version })
  const { version } = await bodyOf(ada, made.id)
  t.match(stale, { code: 'version_conflict', next: version, next_call: { tool: 'read' } })
  const missing = await errorOf({ edits: [{ op: 'replace', find: 'third text', replace: 'x' }] })
  t.match(missing, { code: 'text_not_found', details: { nearest: [{}] }, next_call: { tool: 'read' } })
  const twice = await errorOf({ edits: [{ op: 'replace', find: 'text', replace: 'x' }] })
  t.match(twice, { code: 'text_ambiguous', next: /block_id/ })
  const fixed = { op: 'replace', find: 'text', replace: 'words', block_id: twice.details.block_ids[0] }
  t.match(await of(call('edit', { document_id: made.id, edits: [fixed] })), { dry_run: false })
})

t.test('a rehearsal shows the difference and writes nothing', async (t) => {
  const { ada, made, call } = await workspace(t)
  const before = { ...(await bodyOf(ada, made.id)), events: (await eventsOf(database, made.id)).length }
  const edits = [{ op: 'replace', find: 'first', replace: 'only' }]
  const rehearsed = await of(call('edit', { document_id: made.id, edits, dry_run: true }))
  t.match(rehearsed, { dry_run: true, changed_blocks: [{ text: 'The [-first-]{+only+} text.' }] })
  const whole = { document_id: made.id, content: '# Other', base_version: made.version, dry_run: true }
  t.match(await of(call('write', whole)), { dry_run: true, created: false })
  t.strictSame({ ...(await bodyOf(ada, made.id)), events: (await eventsOf(database, made.id)).length }, before)
  const version = rehearsed.version
  t.match(await of(call('edit', { document_id: made.id, edits })), { version, dry_run: false })
})

t.test('a repetition with the key of the first call changes nothing more', async (t) => {
  const { ada, made, call, knowledge_base_id } = await workspace(t)
  const args = { document_id: made.id, edits: [{ op: 'append', markdown: 'once' }] }
  const first = await of(call('edit', args, { key: 'edit-1' }))
  t.match(await of(call('edit', args, { key: 'edit-1' })), {
    version: first.version,
    changed_blocks: [{ op: 'added' }],
  })
  t.equal((await bodyOf(ada, made.id)).blocks.length, made.blocks.length + 1)
  const other = { ...args, edits: [{ op: 'append', markdown: 'another' }] }
  t.match(await of(call('edit', other, { key: 'edit-1' })), { error: { code: 'idempotency_key_reused' } })
  const create = { title: 'New', content: 'text', knowledge_base_id }
  const created = await of(call('write', create, { key: 'write-1' }))
  t.strictSame(await of(call('write', create, { key: 'write-1' })), created, 'one document')
})

t.test('agents and people who edit one document at once lose nothing of each other', async (t) => {
  const { ada, made, call } = await workspace(t)
  const eve = await connectMcp(t, { origin, token: ada.token, era: 'legacy' })
  const words = Array.from({ length: 12 }, (_, index) => `word${index}`)
  const results = await Promise.all(
    words.map((word, index) => {
      const edits = [{ op: 'append', markdown: word }]
      return (index % 2 ? call : eve.call)('edit', { document_id: made.id, edits })
    }),
  )
  for (const [index, result] of results.entries()) {
    t.notOk(result.isError, textOf(result))
    t.match(result.structuredContent, { changed_blocks: [{ op: 'added', text: `{+word${index}+}` }] })
  }
  const texts = (await bodyOf(ada, made.id)).blocks.map(plainText)
  t.strictSame(
    words.filter((word) => !texts.includes(word)),
    [],
  )
})

t.test('an agent inserts beside the item that it has found', async (t) => {
  const ada = await signUp()
  const { id } = await make(ada, [ul(p('giraffes'), p('zebras')), p('text')])
  const { call } = await connectMcp(t, { origin, token: ada.token })
  const found = await call('search', { q: 'giraffes' })
  const [{ parent_block_id: item }] = (found.structuredContent as { hits: [{ parent_block_id: string }] }).hits
  t.match(textOf(found), ` in ${item}\n`)
  await of(call('edit', { document_id: id, edits: [{ op: 'insert', after_block_id: item, markdown: '- lions' }] }))
  t.equal(plainText((await bodyOf(ada, id)).blocks[0] as BlockNode), 'giraffes\nlions\nzebras')
})

t.test('an agent finds among the documents with a tag and a property', async (t) => {
  const ada = await signUp()
  await make(ada, [p('Elephants drink.')], { tags: ['draft'], properties: { owner: 'Bo' } })
  const { id } = await make(ada, [p('Elephants drink.')], { tags: ['draft'], properties: { owner: 'Ada', done: true } })
  const { call } = await connectMcp(t, { origin, token: ada.token })
  const found = await of(call('search', { q: 'elephants', tag: ['draft'], property: { owner: 'Ada', done: true } }))
  t.match(found.hits, [{ document_id: id }])
  t.equal(found.hits.length, 1)
  for (const owner of [['Ada', 'Bo'], { name: 'Ada' }, null]) {
    const { error } = await of(call('search', { q: 'elephants', property: { owner } }))
    t.match(error, { code: 'invalid_request' }, JSON.stringify(owner))
  }
})

t.test('a document is written, read in parts, put back from its history, and its changes are followed', async (t) => {
  const { ada, made, call, knowledge_base_id } = await workspace(t)
  const created = await of(
    call('write', { title: 'Guide', content: '# One\n\nfirst\n\n# Two\n\nsecond', knowledge_base_id }),
  )
  const document_id = created.document_id
  const cut = await call('write', { title: 'Cut', content: '![herd](javascript:x)', knowledge_base_id })
  t.match(cut.structuredContent, { created: true, warnings: [/image/i] }, 'what a new document has lost is told')
  t.match(textOf(cut), /warning: /)
  t.match(await of(call('changes', { document_id })), { freshness: String, cursor: String })
  const outline = await of(call('read', { document_id, view: 'outline' }))
  t.match(outline, { title: 'Guide', sections: [{ title: 'One' }, { title: 'Two', block_count: 2 }] })
  const around = outline.sections[1].block_id
  const part = await of(call('read', { document_id, around, context_before: 0, context_after: 1 }))
  t.match(part, { text: /# Two\n\n.*\nsecond/, truncated: false, version: created.version, freshness: 'current' })
  t.notMatch(part.text, 'first')
  const content = (await of(call('read', { document_id }))).text.replace('second', 'third')
  t.match(await of(call('write', { document_id, content })), {
    error: { code: 'precondition_required', next: /version/ },
  })
  const written = await of(call('write', { document_id, content, base_version: created.version }))
  t.match(written, { changed_blocks: [{ text: '[-second-]{+third+}' }], created: false })
  const versions = (await of(call('history', { document_id }))).versions
  t.match(versions, [{ seq: 1 }])
  t.match(await of(call('history', { document_id, action: 'difference' })), { changed_blocks: [{ op: 'modified' }] })
  t.match(await of(call('read', { document_id, seq: 1 })), { text: /second/, freshness: 'kept' })
  const back = await of(call('history', { document_id, action: 'rollback', seq: 1, base_version: written.version }))
  t.match(back, { version: created.version, changed_blocks: [{ text: '[-third-]{+second+}' }] })
  const recent = await of(call('changes', { knowledge_base_id }))
  t.match(recent.documents[0], { id: document_id, title: 'Guide' })
  t.match(await of(call('browse')), { knowledge_bases: [{ document_count: Number }] })
  const browsed = await of(call('browse', { knowledge_base_id }))
  t.match(browsed.items.map(({ id }: { id: string }) => id).sort(), [document_id, made.id].sort())
  t.equal((await bodyOf(ada, document_id)).version, created.version)
})

t.test('a whole text without anchors keeps the blocks that it continues, and the same text is no change', async (t) => {
  const { ada, made, call } = await workspace(t)
  const write = (content: string, base_version: string, ids = {}) =>
    of(call('write', { document_id: made.id, content, base_version, ...ids }))
  const added = await write('# Water\n\nThe first text.\n\nA second one.', made.version)
  t.match(added.changed_blocks, [{ op: 'added', text: '{+A second one.+}' }])
  t.equal(added.changed_blocks.length, 1)
  const same = await write('# Water\n\nThe first text.\n\nA second one.', added.version)
  t.match(same, { version: added.version, changed_blocks: [], omitted: 0 })
  const idsOf = async () => (await bodyOf(ada, made.id)).blocks.map(({ attrs }) => attrs.id)
  const before = await idsOf()
  await write('# Water\n\nThe first text.', added.version, { ids: 'strict' })
  t.notOk((await idsOf()).some((id) => before.includes(id)))
})

async function workspace(t: Parameters<typeof connectMcp>[0]) {
  const ada = await signUp()
  const made = await make(ada, [h(1, 'Water'), p('The first text.')])
  const { knowledge_base_id } = (await ada.get(`/documents/${made.id}`)).body.data
  const { call } = await connectMcp(t, { origin, token: ada.token })
  return { ada, made, call, knowledge_base_id }
}
