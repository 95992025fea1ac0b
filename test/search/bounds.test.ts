import { sql } from '../../shared/database/database.ts'
import { searchTopK } from '../../shared/search/search.ts'
import { p } from '../document/build.ts'
import type { Client } from '../support/client.ts'
import { onlyLong } from '../support/run-options.ts'
import { queryString, searchV2 } from '../support/search.ts'
import { t } from '../support/tap.ts'
import { startSearchService, untilFresh, write } from '../support/workers.ts'

const service = await startSearchService(t)

t.test('many long texts are answered in parts, and nobody who asks on misses one', onlyLong, async (t) => {
  const { ada, ids } = await startWithLongTexts()
  const { results, page } = await searchV2(ada, { q: 'walrus', limit: 100 })
  t.equal(results.length, 2, 'two texts of 400,000 bytes are read for an answer')
  t.match(page, { has_more: true, next_cursor: null })
  t.match(results[0].score_explanation, { exact: false })
  const again = await searchV2(ada, { q: 'walrus', limit: 100 })
  t.strictSame(again.results.map(idOf), results.map(idOf))
  t.equal((await ada.get('/search?q=walrus&limit=100')).body.data.length, 2)

  for (const limit of [1, 2, 100]) {
    const pages = await exhaust(ada, { q: 'walrus', limit })
    t.ok(pages.every(({ length }) => length === Math.min(limit, 2) || length === 1))
    t.strictSame(pages.flat().map(idOf), ids, `in pages of ${limit}`)
  }
})

t.test('a word is found wherever it stands in a very long block, in all of its places', async (t) => {
  const ada = await service.signUp()
  const text = `a walrus ${'ice and snow '.repeat(25_000)}then another walrus ${'and ice '.repeat(10_000)}`
  await write(ada, [p(text)])
  await untilFresh(ada)
  for (const mode of ['topk', 'exhaustive']) {
    const [found] = (await searchV2(ada, { q: 'walrus', mode })).results
    t.match(found, { match_count: 2, context: { before: 'a ', match: 'walrus' } })
  }
})

t.test('hundreds of long headings above a hit do not come along with it', async (t) => {
  const ada = await service.signUp()
  const headings = Array.from(
    { length: 40 },
    (_, index) => `${'#'.repeat(1 + (index % 3))} ${index} ${'h'.repeat(5000)}`,
  )
  await write(ada, `${headings.join('\n\n')}\n\na narwhal`)
  await untilFresh(ada)
  const [{ document_id, heading_path }] = (await searchV2(ada, { q: 'narwhal' })).results
  t.strictSame(
    heading_path.map((title: string) => title.slice(0, 4)),
    ['39 h'],
  )
  const workspaceId = await service.database.oneFirst(sql.unsafe`
    SELECT workspace_id FROM documents WHERE id = ${document_id}`)
  const scope = { workspaceIds: [String(workspaceId)], locale: 'default' as const }
  const { hits } = await searchTopK(service.database, { q: 'narwhal', scope, limit: 20, relax: false })
  t.ok(JSON.stringify(hits).length < 5000)
})

/** Six documents with a long text each, and their ids in order. */
async function startWithLongTexts() {
  const ada = await service.signUp()
  const ids: string[] = []
  for (let index = 0; index < 6; index += 1) {
    const { id } = await write(ada, [p(`${'ice '.repeat(50_000)}walrus ${'snow '.repeat(39_998)}`)])
    ids.push(id)
  }
  await untilFresh(ada)
  return { ada, ids: ids.sort() }
}

async function exhaust(client: Client, query: { q: string; limit: number }) {
  const pages: object[][] = []
  let cursor: string | null = null
  do {
    const more = queryString({ ...query, mode: 'exhaustive', ...(cursor !== null && { cursor }) })
    const { results, page } = (await client.get(`/search/v2?${more}`)).body.data
    pages.push(results)
    cursor = page.next_cursor
  } while (cursor !== null)
  return pages
}

function idOf({ document_id }: { document_id?: string }) {
  return document_id
}
