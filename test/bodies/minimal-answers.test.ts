import { minimalSchema, offersMinimal } from '../../api/http/minimal-answer.ts'
import { routes } from '../../api/routes/routes.ts'
import type { BlockNode } from '../../shared/body/document.ts'
import { createFixture, pathOf, payloadOf, queryOf, withModel } from '../contract/fixtures.ts'
import { h, p } from '../document/build.ts'
import type { Client, Reply } from '../support/client.ts'
import { bodyOf, make } from '../support/documents.ts'
import { startTestService } from '../support/service.ts'
import { t } from '../support/tap.ts'

const { signUp } = await startTestService(t, { ...withModel, QUOTA_KNOWLEDGE_BASES: '1000' })
const minimal = { prefer: 'return=minimal' }

t.test('a write to a body can be answered by the blocks that it has changed', async (t) => {
  const ada = await signUp()
  const made = await make(ada, [h(1, 'One'), p('two'), p('three')])
  const [first, second, third] = made.blocks as [BlockNode, BlockNode, BlockNode]
  const path = `/documents/${made.id}`
  const changed = async (reply: Reply, status = 200) => {
    const { etag, version } = await bodyOf(ada, made.id)
    t.equal(reply.status, status, reply.text)
    t.equal(reply.headers.get('preference-applied'), 'return=minimal')
    t.equal(reply.headers.get('etag'), etag)
    const { changed_block_ids: ids, ...rest } = reply.body.data
    t.strictSame(rest, { document_id: made.id, version })
    return ids
  }
  const nodes = [{ type: 'paragraph', content: [{ type: 'text', text: 'new' }] }]
  const inserted = await ada.post(`${path}/blocks`, { position: { document_end: true }, nodes }, minimal)
  const [fresh] = await changed(inserted, 201)
  t.match(inserted.headers.get('location'), new RegExp(`${fresh}$`))
  const patch = { content: [{ type: 'text', text: 'TWO' }] }
  const patched = await ada.patch(`${path}/blocks/${second.attrs.id}`, patch, minimal)
  t.strictSame(await changed(patched), [second.attrs.id])
  const again = await ada.patch(`${path}/blocks/${second.attrs.id}`, patch, minimal)
  t.strictSame(await changed(again), [], 'a write that changes nothing names nothing')
  const deleted = await ada.call('DELETE', `${path}/blocks/${third.attrs.id}`, { headers: minimal })
  t.strictSame(await changed(deleted), [third.attrs.id], 'a deleted block is named')
  const edits = [{ op: 'replace', find: 'One', replace: '1' }]
  t.strictSame(await changed(await ada.post(`${path}/content/edit`, { edits }, minimal)), [first.attrs.id])
  const operations = [{ op: 'delete', block_id: fresh }]
  t.strictSame(await changed(await ada.post(`${path}/batch`, { operations }, minimal)), [fresh])
  const rolledBack = await ada.post(`${path}/versions/1/rollback`, {}, { ...minimal, 'if-match': '*' })
  t.strictSame((await changed(rolledBack)).sort(), [first.attrs.id, second.attrs.id, third.attrs.id].sort())
  const content = { format: 'tiptap-json', document: { type: 'doc', content: [third, first, second] } }
  const replaced = await ada.put(`${path}/content`, content, { ...minimal, 'if-match': '*' })
  t.strictSame(await changed(replaced), [third.attrs.id], 'a moved block is named')
})

t.test('a small answer keeps what the caller would otherwise miss: warnings, a difference', async (t) => {
  const ada = await signUp()
  const made = await make(ada, [p('one')])
  const markdown = '[a](javascript:alert)'
  const edit = (query: string) =>
    ada.post(`/documents/${made.id}/content/edit${query}`, { edits: [{ op: 'append', markdown }] }, minimal)
  const rehearsed = await edit('?dry_run=true')
  t.strictSame(Object.keys(rehearsed.body.data).sort(), [
    'changed_block_ids',
    'diff',
    'document_id',
    'version',
    'warnings',
  ])
  t.equal(rehearsed.body.data.diff.blocks.length, 1)
  t.match((await edit('')).body.data.warnings, [{ code: 'link_removed' }])
  const content = { format: 'markdown', content: markdown }
  const created = await ada.post('/documents', { title: 'Warned', content }, minimal)
  t.strictSame(Object.keys(created.body.data).sort(), ['id', 'version', 'warnings'])
})

t.test('a repetition gets the first answer again, whatever it prefers', async (t) => {
  const ada = await signUp()
  const create = (key: string, headers: Record<string, string>) =>
    ada.post('/documents', { title: 'Once' }, { ...headers, 'idempotency-key': key })
  for (const [key, first, second] of [
    ['small', minimal, {}],
    ['whole', {}, minimal],
  ] as const) {
    const [one, two] = [await create(key, first), await create(key, second)]
    t.equal(two.headers.get('idempotent-replayed'), 'true')
    t.strictSame(two.body.data, one.body.data)
  }
})

t.test('Prefer is read as RFC 7240 writes it, and what it does not ask for is ignored', async (t) => {
  const ada = await signUp()
  const isSmall = async (prefer: string) => {
    const reply = await ada.post('/knowledge-bases', { name: prefer }, { prefer })
    t.equal(reply.status, 201)
    const isApplied = reply.headers.get('preference-applied') === 'return=minimal'
    t.equal(isApplied, reply.body.data.name === undefined, prefer)
    return isApplied
  }
  for (const prefer of [
    'return=minimal',
    'Return="minimal"',
    'respond-async, return=minimal; foo=bar',
    'wait=5 ,return = minimal',
    'return=minimal, return=representation',
  ]) {
    t.ok(await isSmall(prefer), prefer)
  }
  for (const prefer of ['return=representation', 'return', 'returns=minimal', 'return=minimally', 'x-return=minimal']) {
    t.notOk(await isSmall(prefer), prefer)
  }
  t.equal((await ada.get('/knowledge-bases', minimal)).headers.get('preference-applied'), null, 'a read stays whole')
})

t.test('every write that answers with a body, blocks or a record has a small answer', async (t) => {
  const owner = await signUp()
  const applied: string[] = []
  for (const spec of routes.filter(offersMinimal)) {
    const [whole, small] = [await callOf(owner, spec, {}), await callOf(owner, spec, minimal)]
    t.equal(small.status, whole.status, `${spec.operationId}: ${small.text}`)
    t.equal(small.headers.has('location'), whole.headers.has('location'))
    t.equal(small.headers.has('etag'), whole.headers.has('etag'))
    t.equal(whole.headers.has('preference-applied'), false)
    if (small.status >= 300) continue
    applied.push(spec.operationId)
    const success = spec.success.find(({ status }) => status === small.status)
    const known = Object.keys((success && minimalSchema(success))?.properties ?? {})
    t.strictSame(
      Object.keys(small.body.data).filter((name) => !known.includes(name)),
      [],
      spec.operationId,
    )
    t.equal(small.headers.get('preference-applied'), 'return=minimal', spec.operationId)
    // A deletion names one block in either answer.
    if (spec.operationId === 'deleteBlock') continue
    t.ok(small.text.length < whole.text.length, `${spec.operationId}: ${small.text}`)
  }
  const records = ['createKnowledgeBase', 'createFolder', 'updateDocument', 'createConcept', 'acceptConceptCandidate']
  const bodies = ['replaceContent', 'editContent', 'insertBlocks', 'updateBlock', 'deleteBlock', 'batchBlocks']
  for (const operation of [...records, ...bodies, 'putDocumentSummary', 'createAttachment', 'restoreFromTrash']) {
    t.ok(applied.includes(operation), `${operation} is among ${applied}`)
  }
})

async function callOf(owner: Client, spec: (typeof routes)[number], headers: Record<string, string>): Promise<Reply> {
  const fixture = await createFixture(owner, spec)
  const payload = payloadOf(spec, fixture)
  const guard: Record<string, string> = spec.guard === undefined ? {} : { 'if-match': '*' }
  return owner.call(spec.method, `${pathOf(spec, fixture)}${queryOf(spec, fixture)}`, {
    ...payload,
    headers: { ...payload.headers, ...guard, ...headers },
  })
}
