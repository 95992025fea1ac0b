import fc from 'fast-check'
import pg from 'pg'
import { blockVector } from '../../shared/search/index/vector.ts'
import { parseQuery } from '../../shared/search/matching/grammar.ts'
import { matchTerms } from '../../shared/search/matching/match.ts'
import { conjunction, halfCondition, termQueries } from '../../shared/search/matching/query.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { runsTimes } from '../support/runs.ts'
import { t } from '../support/tap.ts'
import { anyText, fewWords } from './random-text.ts'

const database = await createTestDatabase()
const client = new pg.Client(database.url)
await client.connect()

t.teardown(async () => {
  await client.end()
  await database.drop()
})

t.test('any text can be indexed and any query asked', async (t) => {
  await fc.assert(
    fc.asyncProperty(anyText(), anyText(), async (text, q) => {
      const terms = termQueries(parseQuery(q), ['en', 'de'])
      for (const tsquery of [conjunction(terms, ["@w'\\"]), halfCondition(terms, ['@w1'])]) {
        await indexFinds(vectorOf(text), tsquery)
      }
    }),
  )
  t.pass()
})

t.test('the index finds a block exactly when its matches can be shown', async (t) => {
  const language = fc.constantFrom('en', 'de', 'fr', 'ru', 'simple')
  const pair = fc.tuple(fc.oneof(fewWords(), anyText()), fc.oneof(fewWords(), anyText()))
  const sought = fc.oneof(
    pair,
    fewWords().map((text): [string, string] => [text, text.slice(1, 9)]),
  )
  await fc.assert(
    fc.asyncProperty(sought, language, fc.boolean(), async ([text, q], textLanguage, quoted) => {
      const query = parseQuery(quoted ? `"${q}"` : q)
      const languages = ['en', 'de', 'fr', 'ru']
      const terms = termQueries(query, languages)
      const { occurrences } = matchTerms(text, { query, languages, language: textLanguage })
      const found = await indexFinds(vectorOf(text, textLanguage), conjunction(terms, ['@w1', '@k2']))
      const shown = occurrences.length > 0 && occurrences.every(({ count }) => count > 0)
      if (found !== shown) throw new Error(`the index says ${found}, the text ${shown}: ${JSON.stringify(terms)}`)
      const relaxed = await indexFinds(vectorOf(text, textLanguage), halfCondition(terms, ['@w1']))
      const enough = occurrences.filter(({ count }) => count > 0).length * 2 >= occurrences.length
      if (terms.length >= 3 && enough && !relaxed) throw new Error('half of the terms are not found')
      if (terms.length >= 3 && terms.length <= 4 && relaxed && !enough) throw new Error('less than half is found')
    }),
    runsTimes(2),
  )
  t.pass()
})

t.test('a block of another scope is not found', async (t) => {
  const terms = termQueries(parseQuery('box'), ['en'])
  t.equal(await indexFinds(vectorOf('a box'), conjunction(terms, ['@w1', '@k2'])), true)
  t.equal(await indexFinds(vectorOf('a box'), conjunction(terms, ['@w1', '@k3'])), false)
})

t.test('a book in one block can be indexed and is found by its first words', async (t) => {
  const words = Array.from({ length: 150_000 }, (_, index) => `word${index.toString(36)} the`).join(' ')
  const book = { text: `Ouverture ${words} ${'x'.repeat(5000)}`, language: 'en', isTitle: false, isHeading: false }
  const { tsv, length } = blockVector({ ...book, scopes: ['@w1'] })
  t.equal(length, 32_767)
  const finds = (q: string) => indexFinds(tsv, conjunction(termQueries(parseQuery(q), ['en']), ['@w1']))
  t.equal(await finds('ouverture "word0 the"'), true)
  t.equal(await finds('wordp00'), true, 'a word far in')
  t.equal(await finds('"word1 wordp00"'), false, 'words far in do not fall together')
})

t.test('short and telling blocks are in the tiers that are ranked first', async (t) => {
  const vector = (text: string, isTitle = false) =>
    blockVector({ text, language: 'en', isTitle, isHeading: false, scopes: [] }).tsv
  t.equal(await indexFinds(vector('a kernel that says much '.repeat(12)), `'3^kernel'`), true)
  t.equal(await indexFinds(vector(`kernel ${'and many other words '.repeat(12)}`), `'1^kernel'`), false)
  t.equal(await indexFinds(vector('kernel', true), `'3^kernel'`), true)
  t.equal(await indexFinds(vector('kernels kernels'), `'1^kernel'`), true)
  const spread = `a kernel of kernels, ${'and many other words '.repeat(3)}`
  t.equal(await indexFinds(vector(spread), `'1^kernel'`), true, 'whose forms count together')
  t.equal(await indexFinds(vector(spread.replace('kernels', 'others')), `'1^kernel'`), false)
})

function vectorOf(text: string, language = 'en'): string {
  return blockVector({ text, language, isTitle: false, isHeading: false, scopes: ['@w1', '@k2', "@l'\\"] }).tsv
}

async function indexFinds(tsv: string, tsquery: string | null): Promise<boolean> {
  const { rows } = await client.query('SELECT $1::tsvector @@ $2::tsquery AS found', [tsv, tsquery])
  return rows[0]?.found ?? false
}
