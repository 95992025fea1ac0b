import type { BlockNode } from '../../shared/body/document.ts'
import { workersOf } from '../../workers/types.ts'
import { h, p, ul } from '../document/build.ts'
import type { Client } from '../support/client.ts'
import { bodyOf, type Made, make, put } from '../support/documents.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { type Test, t } from '../support/tap.ts'
import { edit, ok, statusesOf, translate, unitsOf } from '../support/translations.ts'
import { startWorkers } from '../support/workers.ts'

const service = await startTestService(t)
await startWorkers(t, service, workersOf(['changes']))
const blocks = [h(1, 'Cellar'), p('The cellar floods each spring.'), ul(p('buckets'), p('a pump'))]

t.test('a script that appends a line to the Markdown of a document', async (t) => {
  await t.test('with ids=match leaves translations, relations and history alone', async (t) => {
    await appends(t, { read: '', write: '?ids=match' })
  })
  await t.test('with anchors leaves translations, relations and history alone', async (t) => {
    await appends(t, { read: '&annotate=anchors', write: '' })
  })
})

t.test('the same text again with ids=match writes nothing: no version, no snapshot, no event', async (t) => {
  const ada = await service.signUp()
  const made = await make(ada, blocks)
  const { content } = await markdownOf(ada, made)
  const reply = await write(ada, { id: made.id, markdown: content, query: '?ids=match' })
  t.equal(reply.headers.get('etag'), made.etag)
  t.strictSame(ok(await ada.get(`/documents/${made.id}/versions`)).data, [])
  const rehearsed = ok(await write(ada, { id: made.id, markdown: content, query: '?ids=match&dry_run=true' })).data
  t.match(rehearsed, { version: made.version, diff: { blocks: [] } })
  const body = { format: 'tiptap-json', document: { type: 'doc', content: blocks } }
  const again = await ada.put(`/documents/${made.id}/content?ids=match`, body, { 'if-match': made.etag })
  t.equal(again.headers.get('etag'), made.etag)
  t.strictSame(ok(await ada.get(`/documents/${made.id}/versions`)).data, [])
})

t.test('a write that replaces blocks under new ids says so, and a write that does not is silent', async (t) => {
  const ada = await service.signUp()
  const made = await make(ada, blocks)
  const { content } = await markdownOf(ada, made)
  const warnings = async (markdown: string, query = '') =>
    ok(await write(ada, { id: made.id, markdown, query })).data.warnings
  t.match(await warnings(content), [{ code: 'block_ids_replaced', block_id: null, count: 3, message: /ids=match/ }])
  t.strictSame(await warnings('Something else.', '?ids=match'), [])
  const { blocks: now } = await bodyOf(ada, made.id)
  t.match(ok(await put(ada, made.id, [p('Other.')])).data.warnings, [{ code: 'block_ids_replaced', count: 1 }])
  t.strictSame(ok(await put(ada, made.id, now)).data.warnings.length, 0, 'every block has an id')
  t.strictSame(ok(await put(ada, made.id, [p()])).data.warnings.length, 1)
  t.strictSame(ok(await put(ada, made.id, [p('On an empty page.')])).data.warnings, [], 'nothing is lost')
})

t.test('a difference shows an edit as an edit, also where a write has replaced the ids', async (t) => {
  const ada = await service.signUp()
  const made = await make(ada, blocks)
  const { content } = await markdownOf(ada, made)
  ok(await write(ada, { id: made.id, markdown: `${content.replace('floods', 'is flooded')}\nNew.\n`, query: '' }))
  const { blocks: now } = await bodyOf(ada, made.id)
  const difference = async (query: string) => ok(await ada.get(`/documents/${made.id}/diff${query}`)).data.blocks
  t.equal((await difference('')).length, 7)
  const [edited, added, ...others] = await difference('?ids=match')
  t.match(edited, { op: 'modified', block_id: now[1]?.attrs.id, old_position: 1, new_position: 1 })
  t.match(edited.hunks, [{ op: 'equal' }, { op: 'delete', text: 'floods' }, { op: 'insert', text: 'is flooded' }, {}])
  t.match(added, { op: 'added', after: { content: [{ text: 'New.' }] } })
  t.strictSame(others, [])
})

t.test('another value of ids is refused with the values that are allowed', async (t) => {
  const ada = await service.signUp()
  const made = await make(ada, blocks)
  const reply = await write(ada, { id: made.id, markdown: 'x', query: '?ids=keep' })
  t.equal(reply.status, 400)
  t.match(reply.text, /strict.*match/)
})

async function appends(t: Test, query: { read: string; write: string }) {
  const ada = await service.signUp()
  const { source, target } = await translate(ada, blocks)
  const [, unit] = await unitsOf(ada, target)
  await edit(ada, target, { block: unit?.target_block_ids[0] ?? '', text: 'La cave est inondée chaque printemps.' })
  const other = await make(ada, [p('other')])
  const relation = { source_document_id: source.id, source_block_id: blockAt(source, 1), predicate: 'supports' }
  ok(await ada.post('/relations', { ...relation, target_uri: `svc://doc/${other.id}` }))
  const { cursor } = ok(await ada.get(`/documents/${source.id}/changes`)).data

  const { content } = await markdownOf(ada, source, query.read)
  const reply = await write(ada, {
    id: source.id,
    markdown: `${content}\nThe pump is in the shed.\n`,
    query: query.write,
  })
  t.strictSame(ok(reply).data.warnings, [])
  t.strictSame((await statusesOf(ada, target)).slice(0, 2), ['missing', 'manually_edited'])
  t.match(ok(await ada.get(`/documents/${source.id}/relations`)).data, [{ status: 'valid' }])
  const changes = async () => ok(await ada.get(`/documents/${source.id}/changes?after=${cursor}`)).data
  await until(async () => (await changes()).freshness === 'current')
  t.match((await changes()).changes, [{ op: 'added', text_excerpt: 'The pump is in the shed.' }])
}

async function markdownOf(client: Client, { id }: Made, query = '') {
  return ok(await client.get(`/documents/${id}/content?format=markdown${query}`)).data
}

function write(client: Client, { id, markdown, query }: { id: string; markdown: string; query: string }) {
  return client.put(`/documents/${id}/content${query}`, { format: 'markdown', content: markdown }, { 'if-match': '*' })
}

function blockAt({ blocks }: Made, index: number): string {
  return (blocks[index] as BlockNode).attrs.id
}
