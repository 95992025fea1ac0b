import { openDatabase, sql } from '../../../shared/database/database.ts'
import { indexStatistics } from '../../../shared/search/ranking/selectivity.ts'
import { searchExhaustive, searchTopK } from '../../../shared/search/search.ts'
import { scoresOf, textOf } from '../../support/ranked-texts.ts'
import { writeBlocks } from '../../support/search-blocks.ts'
import { sharedService } from '../../support/service.ts'
import { t } from '../../support/tap.ts'

const service = await sharedService()
const documents = 30
const texts = Array.from({ length: 12_000 }, (_, index) => textOf(index))
const { scope, workspaceId } = await writeBlocks(service, { texts, documents })
const { averageLength } = await indexStatistics(service.database)

t.test('of thousands of matches the best are returned, as if each had been looked at', async (t) => {
  const queries = ['kernel', 'memory', 'ouverture', 'word7x', 'kernel memory', 'server memory', 'memory word5x']
  const longLists = ['always kernel', 'memory always']
  for (const q of [...queries, ...longLists, 'word9x word2x', '"kernel memory"', 'nothing here word3x']) {
    const { hits } = await searchTopK(service.database, { q, scope, limit: 10, relax: false })
    const scores = scoresOf(texts, { q, averageLength })
    const best = scores.filter((score) => score > 0).sort((a, b) => b - a)
    const tenth = best[9] ?? best.at(-1) ?? 0
    const among = hits.filter(({ hit }) => (scores[hit.ord - 1] ?? 0) >= tenth - 1e-6)
    t.equal(hits.length, Math.min(10, best.length), q)
    t.ok(among.length >= 0.9 * hits.length, `${among.length} of the ten best for ${q}`)
    if (hits[0]?.explanation.exact) t.equal(among.length, hits.length, `${q} says that it is exact`)
  }
})

t.test('of thousands of blocks with half of the words the best are returned', async (t) => {
  for (const q of [
    'kernel memory server absent1',
    'kernel ouverture word3x absent1',
    'absent1 absent2 always memory',
  ]) {
    const { hits } = await searchTopK(service.database, { q, scope, limit: 10, relax: true })
    const scores = scoresOf(texts, { q, averageLength, minimumShouldMatch: 2 })
    const tenth = scores.toSorted((a, b) => b - a)[9] ?? 0
    const among = hits.filter(({ hit }) => (scores[hit.ord - 1] ?? 0) >= tenth - 1e-6)
    t.equal(hits.length, 10, q)
    t.ok(among.length >= 9, `${among.length} of the ten best for ${q}`)
  }
})

t.test('the words of usual searches are not planned one by one', async (t) => {
  const database = await openDatabase({ url: service.url, poolSize: 1 })
  t.teardown(() => database.end())
  for (let number = 1; number <= 8; number += 1) {
    for (const q of [`word${number}x`, `word${number}x kernel`, `kernels memories always absent${number}`]) {
      await searchTopK(database, { q, scope, limit: number, relax: true })
    }
  }
  const planned = await database.anyFirst(sql.unsafe`
    SELECT custom_plans::int FROM pg_prepared_statements WHERE statement LIKE '%candidates%'`)
  t.ok(planned.length >= 3)
  t.ok(
    planned.every((times) => Number(times) <= 5),
    'the first five times only',
  )
})

t.test('a search that could not look at everything says so', async (t) => {
  const rare = await searchTopK(service.database, { q: 'ouverture', scope, limit: 10, relax: false })
  t.match(rare, { hasMore: false, hits: [{ explanation: { exact: true } }] })
  const kernel = await searchTopK(service.database, { q: 'kernel', scope, limit: 10, relax: false })
  t.match(kernel, { hasMore: true, hits: [{ explanation: { exact: true } }] }, 'no other block can score more')
  await service.database.query(
    sql.unsafe`INSERT INTO search_languages (workspace_id, language) VALUES (${workspaceId}, 'de')`,
  )
  const german = await searchTopK(service.database, { q: 'kernel', scope, limit: 10, relax: false })
  t.match(german, { hasMore: true, hits: [{ explanation: { exact: false } }] }, 'when words may have several stems')
})

t.test('who sees several workspaces finds the same as in each of them', async (t) => {
  const several = { ...scope, workspaceIds: [workspaceId, 'ws_other'] }
  for (const q of ['ouverture', 'server']) {
    const search = { q, limit: 7, cursor: undefined }
    const [one, both] = await Promise.all(
      [scope, several].map((scope) => searchExhaustive(service.database, { ...search, scope })),
    )
    t.strictSame(both?.hits, one?.hits, q)
    const best = await searchTopK(service.database, { q, scope: several, limit: 10, relax: true })
    t.strictSame(best.hits, (await searchTopK(service.database, { q, scope, limit: 10, relax: true })).hits, q)
  }
})

t.test('nothing of another workspace is found or counted, however well it matches', async (t) => {
  const best = Array.from({ length: 40 }, () => 'kernel memory').join(' ')
  const other = await writeBlocks(service, { texts: [best], documents })
  const ofBoth = { ...scope, workspaceIds: [workspaceId, other.workspaceId] }
  const first = async (searched: typeof scope) =>
    (await searchTopK(service.database, { q: 'kernel', scope: searched, limit: 1, relax: false })).hits[0]?.hit.body
  t.equal(await first(other.scope), best)
  t.equal(await first(ofBoth), best)
  for (const q of ['kernel', 'kernel memory', '"kernel memory"', 'kernel memory absent']) {
    const { hits } = await searchTopK(service.database, { q, scope, limit: 50, relax: true })
    t.equal(hits.length, 50)
    t.notOk(
      hits.some(({ hit }) => other.ids.includes(hit.document_id)),
      q,
    )
  }
})

t.test('the best block is found though it holds a word more often than the index can count', async (t) => {
  const long = Array.from({ length: 8000 }, (_, index) => (index % 4 === 0 ? 'errorx' : `filler${index}x`)).join(' ')
  const short = Array.from(
    { length: 12 },
    (_, index) => `errorx is one of some ${index} words that stand in a short block`,
  )
  const { scope: ofErrors } = await writeBlocks(service, { texts: [...short, long], documents })
  for (const limit of [1, 3, 20]) {
    const { hits } = await searchTopK(service.database, { q: 'errorx', scope: ofErrors, limit, relax: false })
    t.equal(hits[0]?.hit.body, long, `the best of ${limit}`)
  }
})

t.test('matches out of scope never hide those in scope', async (t) => {
  const { hits } = await searchTopK(service.database, { q: 'always', scope, limit: 1, relax: false })
  const left = hits[0]?.hit.document_id ?? ''
  await service.database.query(sql.unsafe`
    UPDATE documents SET variant_role = 'translation' WHERE workspace_id = ${workspaceId} AND id <> ${left}`)
  const found = await searchTopK(service.database, { q: 'always', scope, limit: 100, relax: false })
  t.equal(found.hits.length, 100)
  t.ok(found.hits.every(({ hit }) => hit.document_id === left))
})

/** Words as frequent as in real texts: few in most blocks, most in few. The same on every run. */
