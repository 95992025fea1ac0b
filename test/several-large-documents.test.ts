import t from 'tap'
import { sql } from '../shared/database/database.ts'
import { node, p } from './body/build.ts'
import { Client } from './support/client.ts'
import { startApi } from './support/processes.ts'
import { startTestService } from './support/service.ts'
import { write } from './support/workers.ts'

const { signUp, database, url, config } = await startTestService(t)
const ada = await signUp()
const eve = await signUp()

// A body of 4 MB, almost all of it in a few blocks, and a hundred documents with it: together ten times the memory of
// the process below.
const bulk = Array.from({ length: 520 }, (_, n) => node('htmlBlock', { html: `<p>${n}</p>`.padEnd(8000, '-') }))
const { id: original } = await write(ada, [p('the first words'), ...bulk])
const ids = Array.from({ length: 100 }, (_, n) => `doc_large_${n}`)
await copies(original, ids)
const { id: small } = await write(eve, 'small')

t.test('a hundred large documents are read with the memory of a few, and hold nobody up', async (t) => {
  const api = await startApi({
    DATABASE_URL: url,
    DATA_DIR: config.DATA_DIR,
    NODE_OPTIONS: '--max-old-space-size=128',
    RATE_READ_PER_MIN: '0',
  })
  t.teardown(api.stop)
  const [reader, other] = [ada, eve].map(({ token }) => new Client({ origin: api.origin, token })) as [Client, Client]
  let isDone = false
  const large = ['markdown', 'tiptap-json', 'outline'].map(async (view) => {
    const reply = await reader.post('/documents/read', { ids, view })
    isDone = true
    return reply
  })
  let between = 0
  while (!isDone) {
    const { status, body } = await other.post('/documents/read', { ids: [small] })
    t.match({ status, body }, { status: 200, body: { data: [{ content: 'small\n' }] } })
    between += 1
  }
  t.ok(between >= 10, `${between} other reads were answered meanwhile`)
  for (const { status, text, body } of await Promise.all(large)) {
    t.equal(status, 200, text.slice(0, 200))
    t.strictSame(
      body.data.map(({ id }: { id: string }) => id),
      ids,
    )
    t.ok(text.length <= 9 * 1024 * 1024, `${text.length} characters`)
  }
})

t.test('a first block beyond the bytes of its share is left to a read of its own', async (t) => {
  const { id } = await write(ada, [node('htmlBlock', { html: 'x'.repeat(400_000) }), p('end')])
  const read = { ids: [id, ...ids.slice(1)], view: 'tiptap-json' }
  const item = (await ada.post('/documents/read', read)).body.data[0]
  t.match(item, { id, truncated: true, has_more: true, omitted_ranges: [{ from_position: 0, to_position: 1 }] })
  t.notHas(item, 'document')
  const query = `view=tiptap-json&max_tokens=${item.max_tokens}&cursor=${item.next_cursor}`
  const { status, text, body } = await ada.get(`/documents/${id}/read?${query}`)
  t.equal(status, 200, text.slice(0, 200))
  t.equal(body.data.document.content[0].attrs.html.length, 400_000)
  const alone = (await ada.post('/documents/read', { ids: [id], view: 'tiptap-json' })).body.data[0]
  t.equal(alone.document.content.length, 1, 'alone it has all bytes of the answer')
})

/** Makes copies of a document under the given ids. */
async function copies(id: string, ids: readonly string[]): Promise<void> {
  const copied = sql.array([...ids], 'text')
  await database.query(sql.unsafe`
    INSERT INTO document_directory (id, workspace_id)
    SELECT n, d.workspace_id FROM documents d, unnest(${copied}) AS n WHERE d.id = ${id}`)
  await database.query(sql.unsafe`
    INSERT INTO documents (workspace_id, id, knowledge_base_id, title, document_type, heading_numbered,
      collapsed_block_ids, version, body_seq, character_count, node_count)
    SELECT workspace_id, n, knowledge_base_id, title, document_type, heading_numbered, collapsed_block_ids, version, 1,
      character_count, node_count
    FROM documents d, unnest(${copied}) AS n WHERE d.id = ${id}`)
  await database.query(sql.unsafe`
    INSERT INTO document_bodies (workspace_id, document_id, body_seq, version, body)
    SELECT b.workspace_id, n, 1, b.version, b.body
    FROM document_bodies b, unnest(${copied}) AS n WHERE b.document_id = ${id}`)
}
