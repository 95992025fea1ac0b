import fc from 'fast-check'
import pg from 'pg'
import { blockVector } from '../../shared/search/index/vector.ts'
import { parseQuery } from '../../shared/search/matching/grammar.ts'
import { matchTerms } from '../../shared/search/matching/match.ts'
import { halfOf, termQueries } from '../../shared/search/matching/query.ts'
import { type Field, type Tier, termWeight } from '../../shared/search/ranking/bm25.ts'
import { cutCondition, upperBound } from '../../shared/search/ranking/cuts.ts'
import { fieldWeights } from '../../shared/search/ranking/tuning.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { runsTimes } from '../support/runs.ts'
import { t } from '../support/tap.ts'

const database = await createTestDatabase()
const client = new pg.Client(database.url)
await client.connect()

t.teardown(async () => {
  await client.end()
  await database.drop()
})

const languages = ['en']

t.test('a search that says it is exact has left out nothing better', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(block(), { minLength: 30, maxLength: 30 }), cutQuery(), async (blocks, sought) => {
      const { q, weights, averageLength, cut } = sought
      const query = parseQuery(q)
      const terms = termQueries(query, languages)
      const minimumShouldMatch = sought.relaxed ? halfOf(terms) : terms.length
      const most = upperBound({ terms, weights, languages, averageLength, cut })
      const seen = await inCut(blocks, cutCondition(terms, cut))
      blocks.forEach(({ text, field }, index) => {
        const { occurrences } = matchTerms(text, { query, languages, language: 'en' })
        if (seen[index] || occurrences.filter(({ count }) => count > 0).length < minimumShouldMatch) return
        const length = text.split(' ').length
        const score = occurrences.reduce((sum, { count, verbatim }, term) => {
          return sum + termWeight({ idf: weights[term] ?? 0, occurrences: count, verbatim, length, averageLength })
        }, 0)
        if (score * fieldWeights[field] > most + 1e-9) throw new Error(`${field} ${text} scores ${score} of ${most}`)
      })
    }),
    runsTimes(2),
  )
})

/** A block in any field in which the words of the query are frequent. Long titles are rare, but must not be wrong. */
function block(): fc.Arbitrary<{ text: string; field: Field }> {
  const word = fc.oneof(fc.constantFrom('kernel', 'memory', 'server'), fc.constantFrom('one', 'two', 'three', 'four'))
  const repeated = fc.integer({ min: 10, max: 60 }).map((times) => Array<string>(times).fill('kernel'))
  const text = fc.oneof(
    fc.array(word, { minLength: 1, maxLength: 8 }),
    fc.array(word, { minLength: 9, maxLength: 80 }),
    fc.tuple(repeated, fc.array(word, { minLength: 1, maxLength: 40 })).map((words) => words.flat()),
  )
  return fc.record({
    text: text.map((words) => words.join(' ')),
    field: fc.constantFrom<Field>('title', 'heading', 'body'),
  })
}

function cutQuery() {
  return fc.integer({ min: 1, max: 3 }).chain((length) => {
    const several = <T>(one: fc.Arbitrary<T>) => fc.array(one, { minLength: length, maxLength: length })
    const tier = fc.constantFrom<Tier | null>(0, 1, 2, 3, 4, null)
    const byPair = length === 1 ? fc.constant<Tier | null>(null) : fc.constantFrom<Tier | null>(null, 1, 2, 3, 4)
    return fc.record({
      q: fc.constant(['kernel', 'memory', 'server'].slice(0, length).join(' ')),
      weights: several(fc.double({ min: 0.1, max: 12, noNaN: true })),
      averageLength: fc.double({ min: 4, max: 80, noNaN: true }),
      cut: fc.record({ byTerm: several(tier), byPair, recheckTerms: fc.boolean(), size: fc.constant(null) }),
      relaxed: fc.constant(length === 3),
    })
  })
}

/** Whether the index would name each of the blocks. */
async function inCut(blocks: { text: string; field: Field }[], condition: string | null): Promise<boolean[]> {
  const vectors = blocks.map(({ text, field }) => {
    const place = { isTitle: field === 'title', isHeading: field === 'heading' }
    return blockVector({ text, language: 'en', scopes: [], ...place }).tsv
  })
  const { rows } = await client.query(
    `SELECT coalesce(tsv::tsvector @@ $2::tsquery, true) AS seen
     FROM unnest($1::text[]) WITH ORDINALITY AS b (tsv, at) ORDER BY at`,
    [vectors, condition],
  )
  return rows.map(({ seen }) => seen)
}
