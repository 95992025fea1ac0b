import { p } from '../document/build.ts'
import type { Client, Reply } from '../support/client.ts'
import { queryString, searchV2 } from '../support/search.ts'
import { t } from '../support/tap.ts'
import { rewrite, startSearchService, untilFresh, write } from '../support/workers.ts'

const service = await startSearchService(t)

t.test('a script that follows the cursor sees every mention exactly once, in document order', async (t) => {
  const { ada, documents } = await startWithMentions()
  const all = await pages(ada, { q: 'lynx', limit: 100 })
  t.equal(all.length, 1)
  for (const limit of [1, 2, 5, 12]) {
    const found = await pages(ada, { q: 'lynx', limit })
    t.ok(found.length >= 12 / limit)
    t.strictSame(found.flat(), all[0], `in pages of ${limit}`)
  }
  const expected = documents.sort().flatMap((id) => [`${id} title`, `${id} 0`, `${id} 1`])
  t.strictSame(all[0], expected)
})

t.test('a page may be longer or shorter than the one before', async (t) => {
  const { ada } = await startWithMentions()
  const first = await searchV2(ada, { q: 'lynx', mode: 'exhaustive', limit: 1 })
  const second = await next(ada, first, { limit: 100 })
  t.equal(second.body.data.results.length, 11)
  t.strictSame(second.body.data.page, { has_more: false, next_cursor: null })
})

t.test('a cursor is refused by any other search than its own', async (t) => {
  const { ada, base } = await startWithMentions()
  const first = await searchV2(ada, { q: ' ｌynx ', mode: 'exhaustive', limit: 2 })
  const { next_cursor: cursor } = first.page
  t.equal((await next(ada, first, { q: 'lynx' })).status, 200, 'the same words in another form are the same search')

  const other = await service.signUp()
  const foreign: [Client, object][] = [
    [ada, { q: 'lynxes' }],
    [ada, { q: '"lynx"', cursor }],
    [ada, { knowledge_base_id: base }],
    [ada, { locale: 'all' }],
    [ada, { locale: 'en' }],
    [ada, { mode: 'topk' }],
    [other, {}],
    ...[`${cursor}x`, cursor.slice(1), 'bm90IGpzb24', '%', '', 'W10', 'WzEsMiwzLDRd', 'null', 'é'.repeat(600)].map(
      (malformed): [Client, object] => [ada, { cursor: malformed }],
    ),
  ]
  for (const [client, change] of foreign) {
    const reply = await next(client, first, { q: 'lynx', ...change })
    t.match(reply, { status: 409, body: { error: { code: 'search_cursor_invalid' } } }, JSON.stringify(change))
  }
  const byDefault = await ada.get(`/search/v2?${queryString({ q: 'lynx', cursor })}`)
  t.match(byDefault, { status: 409, body: { error: { code: 'search_cursor_invalid' } } }, 'topk is the default')
  const both = await ada.get(`/search/v2?${queryString({ q: 'lynx', cursor, locale: 'en_US' })}`)
  t.match(both, { status: 400, body: { error: { code: 'invalid_locale' } } }, 'a malformed request is that first')
})

t.test('a cursor that somebody made up never reaches the database', async (t) => {
  const { ada } = await startWithMentions()
  const first = await searchV2(ada, { q: 'lynx', mode: 'exhaustive', limit: 2 })
  const [digest, fingerprint] = JSON.parse(Buffer.from(first.page.next_cursor, 'base64url').toString())
  const forge = (...parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString('base64url')
  for (const cursor of [
    forge(digest, fingerprint, 'a\u0000', 1),
    forge(digest, fingerprint, '\ud800', 1),
    forge(digest, fingerprint, 'doc_1', 1e300),
    forge(digest, fingerprint, 'doc_1', 1.5),
    forge(digest, fingerprint, 'doc_1'),
    forge(digest, fingerprint, null, 1),
    forge(digest, 1, 'doc_1', 1),
  ]) {
    const reply = await next(ada, first, { cursor })
    t.match(reply, { status: 409, body: { error: { code: 'search_cursor_invalid' } } }, cursor)
  }
  const stale = await next(ada, first, { cursor: forge(digest, '1:2:3', 'doc_1', 1) })
  t.match(stale, { status: 409, body: { error: { code: 'search_cursor_stale' } } })
  const elsewhere = await next(ada, first, { cursor: forge(digest, fingerprint, "'; DROP TABLE documents; --", 1) })
  t.equal(elsewhere.status, 200)
})

t.test('enumerating stops with a conflict as soon as anything in scope has changed', async (t) => {
  const { ada, documents } = await startWithMentions()
  const [one = '', two = '', three = ''] = documents
  const changes: [string, () => Promise<unknown>][] = [
    ['a body', () => rewrite(ada, one, 'lynx')],
    ['a title', () => ada.patch(`/documents/${two}`, { title: 'Renamed' })],
    ['a new document', () => write(ada, 'nothing of interest')],
    ['a deletion', () => ada.delete(`/documents/${three}`)],
  ]
  for (const [name, change] of changes) {
    await untilFresh(ada)
    const first = await searchV2(ada, { q: 'lynx', mode: 'exhaustive', limit: 2 })
    t.equal((await next(ada, first)).status, 200, `before ${name}`)
    await change()
    const refused = {
      status: 409,
      body: { error: { code: 'search_cursor_stale', details: { watermark: /^w1-\d+$/ } } },
    }
    t.match(await next(ada, first), refused, `after ${name}`)
    await untilFresh(ada)
    t.match(await next(ada, first), refused, `after ${name} is indexed`)
  }
})

t.test('what changes out of scope does not disturb who enumerates', async (t) => {
  const { ada, base } = await startWithMentions()
  const elsewhere = (await ada.post('/knowledge-bases', { name: 'Elsewhere' })).body.data.id
  const first = await searchV2(ada, { q: 'lynx', mode: 'exhaustive', limit: 2, knowledge_base_id: base })
  await write(ada, 'lynx', { knowledge_base_id: elsewhere })
  await write(await service.signUp(), 'lynx')
  t.equal((await next(ada, first, { knowledge_base_id: base })).status, 200)
  await untilFresh(ada)
  const second = await next(ada, first, { knowledge_base_id: base, limit: 100 })
  t.equal(second.body.data.results.length, 10)
})

/** Four documents that mention the word in title, in the first and in the second block. */
async function startWithMentions() {
  const ada = await service.signUp()
  const base = (await ada.post('/knowledge-bases', { name: 'Animals' })).body.data.id
  const documents: string[] = []
  for (const name of ['d', 'a', 'C', 'b']) {
    const id = `doc_${name}${Math.random().toString(36).slice(2)}`
    await write(ada, [p('a lynx'), p('the lynx'), p('a cat')], { id, title: `Lynx ${name}`, knowledge_base_id: base })
    documents.push(id)
  }
  await untilFresh(ada)
  return { ada, base, documents }
}

async function pages(client: Client, query: { q: string; limit: number }): Promise<string[][]> {
  const found: string[][] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const data = await searchV2(client, { ...query, mode: 'exhaustive', ...(cursor !== '' && { cursor }) })
    found.push(
      data.results.map(
        (hit: { document_id: string; position: number | null }) => `${hit.document_id} ${hit.position ?? 'title'}`,
      ),
    )
    cursor = data.page.next_cursor
  }
  return found
}

/** Asks for the page behind an answer, with other parameters where `change` says so. */
function next(client: Client, answer: { query: string; page: { next_cursor: string } }, change = {}): Promise<Reply> {
  const query = { q: answer.query, mode: 'exhaustive', limit: 2, cursor: answer.page.next_cursor, ...change }
  return client.get(`/search/v2?${queryString(query)}`)
}
