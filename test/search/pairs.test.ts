import type { Queryable } from '../../shared/database/database.ts'
import { type SearchDatabase, searchTopK } from '../../shared/search/search.ts'
import { writeBlocks } from '../support/search-blocks.ts'
import { sharedService } from '../support/service.ts'
import { t } from '../support/tap.ts'

const service = await sharedService()

t.test('the best blocks come first though there are too few with much of both words', async (t) => {
  const short = Array.from({ length: 5 }, (_, block) => `kernel memory ${others(6, `short${block}`)}`)
  const long = Array.from({ length: 20 }, (_, block) => `${'kernel '.repeat(4)}memory ${others(25, `long${block}`)}`)
  const { scope, workspaceId } = await writeBlocks(service, { texts: [...short, ...long], documents: 5 })
  const database = amongAMillion(workspaceId, { share: 0.05, tiers: [0.006, 0.002, 0.00075, 0.0003] })
  for (const limit of [3, 10, 20]) {
    const { hits } = await searchTopK(database, { q: 'kernel memory', scope, limit, relax: false })
    const best = hits.slice(0, 5).map(({ hit }) => hit.body)
    t.ok(
      best.every((text) => short.includes(text)),
      `of ${limit}`,
    )
    t.equal(hits.length, limit)
  }
})

t.test('of thousands of titles with both words the shortest come first', async (t) => {
  const many = Array.from({ length: 5600 }, () => `kernel memory ${others(10, 'other')}`)
  const shortest = ['kernel memory', 'memory kernel']
  const written = await writeBlocks(service, { texts: [...many, ...shortest], documents: 5, type: 'title' })
  const { scope, workspaceId } = written
  const database = amongAMillion(workspaceId, { share: 0.05, tiers: [0.015, 0.012, 0.01, 0.0005] })
  for (const q of ['kernel memory', 'kernel memory absent']) {
    const { hits } = await searchTopK(database, { q, scope, limit: 10, relax: true })
    t.strictSame(
      hits
        .slice(0, 2)
        .map(({ hit }) => hit.body)
        .sort(),
      shortest,
      q,
    )
    t.match(hits[0], { explanation: { exact: false } })
  }
})

function others(count: number, name: string): string {
  return Array.from({ length: count }, (_, index) => `${name}x${index}`).join(' ')
}

/** The database, whose statistics say that it holds a million blocks in which both words are common. */
function amongAMillion(workspaceId: string, words: { share: number; tiers: readonly number[] }): SearchDatabase {
  const shares = new Map([[`@w${workspaceId}`, 1]])
  for (const word of ['kernel', 'memory', 'memori', '~memori']) {
    shares.set(word, words.share)
    for (const [index, share] of words.tiers.entries()) shares.set(`${index + 1}^${word}`, share)
  }
  const statistics = {
    blocks: 1_000_000,
    lexemes: [...shares.keys()],
    shares: [...shares.values(), 0.0002, 1],
    lengths: [20],
    length_shares: [1],
    length_bounds: [],
  }
  const { any, anyFirst, maybeOne, maybeOneFirst, oneFirst, query, one, transaction } = service.database
  const told = async (statement: Parameters<Queryable['one']>[0]) =>
    statement.sql.includes('most_common_elems') ? statistics : one(statement)
  return { any, anyFirst, maybeOne, maybeOneFirst, oneFirst, query, transaction, one: told as Queryable['one'] }
}
