import { callerOf } from '../../../api/http/authenticate.ts'
import { readSeveral } from '../../../api/routes/documents/read-several.ts'
import { type Queryable, sql } from '../../../shared/database/database.ts'
import { onBehalfOf } from '../../../shared/turns/requester.ts'
import { h, node, p } from '../../document/build.ts'
import { Client } from '../../support/client.ts'
import { startApi } from '../../support/processes.ts'
import { startTestService } from '../../support/service.ts'
import { t } from '../../support/tap.ts'
import { rewrite, write } from '../../support/workers.ts'

const { signUp, database, url, config, service } = await startTestService(t)
const ada = await signUp()
const eve = await signUp()

// A body of a million characters, two bytes each, and a hundred documents with it: together twice the heap of the
// process below. A longer text would not count, because Node.js keeps it outside of the heap.
const bulk = Array.from({ length: 120 }, (_, n) => node('htmlBlock', { html: `<p>…${n}</p>`.padEnd(8000, '-') }))
const { id: original } = await write(ada, [p('the first words'), ...bulk])
const ids = Array.from({ length: 100 }, (_, n) => `doc_large_${n}`)
await copies(original, ids)
// A body that needs a turn of its own.
const { id: ordinary } = await write(eve, `start\n\n${'word '.repeat(10_000)}`)

t.test('a hundred large documents are read with the memory of a few, and hold nobody up', async (t) => {
  const api = await startApi({
    DATABASE_URL: url,
    DATA_DIR: config.DATA_DIR,
    NODE_OPTIONS: '--max-old-space-size=100',
    RATE_READ_PER_MIN: '0',
  })
  t.teardown(api.stop)
  const [reader, other] = [ada, eve].map(({ token }) => new Client({ origin: api.origin, token })) as [Client, Client]
  let isDone = false
  const large = ['markdown', 'tiptap-json'].map(async (view) => {
    const reply = await reader.post('/documents/read', { ids, view })
    isDone = true
    return reply
  })
  let between = 0
  while (!isDone) {
    const { status, body } = await other.post('/documents/read', { ids: [ordinary], view: 'plain-text' })
    t.match({ status, start: body.data[0].content.slice(0, 5) }, { status: 200, start: 'start' })
    between += 1
  }
  t.ok(between >= 10, `${between} other reads had their turns meanwhile`)
  for (const { status, text, body } of await Promise.all(large)) {
    t.equal(status, 200, text.slice(0, 200))
    t.strictSame(
      body.data.map(({ id }: { id: string }) => id),
      ids,
    )
    t.ok(text.length <= 9 * 1024 * 1024, `${text.length} characters`)
  }
})

t.test('documents that grow while others are read do not make one page of the bodies of them all', async (t) => {
  const { database: db } = service
  const growing = Array.from({ length: 8 }, (_, n) => `doc_small_${n}`)
  await copies((await write(ada, [p('small')])).id, growing)
  const caller = await callerOf({ database, config }, { bearer: ada.token, resource: 'api' })
  const pages: number[] = []
  // A database in which people write between two statements of one read.
  const grown: Queryable = Object.assign(Object.create(db), {
    any: async (statement: Parameters<Queryable['any']>[0]) => {
      const rows = (await db.any(statement)) as readonly { body?: string }[]
      if (pages.length === 0) for (const id of growing) await rewrite(ada, id, bulk)
      pages.push(rows.reduce((bytes, { body = '' }) => bytes + Buffer.byteLength(body), 0))
      return rows
    },
  })
  const read = { caller, ids: [...ids.slice(0, 5), ...growing], view: 'outline', maxTokens: undefined } as const
  const { dataText } = await readSeveral(grown, read)
  t.strictSame(
    JSON.parse(dataText).map(({ id }: { id: string }) => id),
    read.ids,
  )
  t.ok(Math.max(...pages) <= 4 * 1024 * 1024, `pages of ${pages} bytes`)
})

t.test('a first block beyond the bytes of its share is left to a read of its own', async (t) => {
  const { id } = await write(ada, [node('htmlBlock', { html: 'x'.repeat(400_000) }), p('end')])
  const gone = Array.from({ length: 99 }, (_, n) => `doc_gone_${n}`)
  const read = { ids: [id, ...gone], view: 'tiptap-json' }
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

t.test('a document that takes too much to be computed leaves the others readable', async (t) => {
  const headings = Array.from({ length: 5000 }, (_, n) => h(1 + (n % 6), `Heading ${n}`))
  const { id: costly } = await write(ada, [...headings, ...bulk])
  const { id: small } = await write(ada, [h(1, 'Small')])
  const caller = await callerOf({ database, config }, { bearer: ada.token, resource: 'api' })
  const read = () =>
    readSeveral(service.database, { caller, ids: [small, costly], view: 'outline', maxTokens: undefined })
  const { dataText } = await onBehalfOf(ada.user_id, read, { mostMs: 0 })
  const error = { code: 'document_too_large', message: /takes too much/ }
  t.match(JSON.parse(dataText), [
    { id: small, sections: [{ title: 'Small' }] },
    { id: costly, error },
  ])
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
