import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import pg from 'pg'
import { fold } from '../../shared/search/text/fold.ts'
import { stemsIn } from '../../shared/search/text/stems.ts'
import { stopWordLists } from '../../shared/search/text/stop-words.ts'
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

// The languages with stop words that PostgreSQL can stem, too.
const dictionaries = {
  da: 'danish',
  de: 'german',
  en: 'english',
  es: 'spanish',
  fi: 'finnish',
  fr: 'french',
  hu: 'hungarian',
  it: 'italian',
  nl: 'dutch',
  no: 'norwegian',
  pt: 'portuguese',
  ru: 'russian',
  sv: 'swedish',
  tr: 'turkish',
}

for (const [language, dictionary] of Object.entries(dictionaries)) {
  t.test(`words in ${dictionary} have the stems by which PostgreSQL would find them`, async (t) => {
    // A dictionary without stop words, unlike the dictionaries of PostgreSQL's configurations.
    await client.query(
      `CREATE TEXT SEARCH DICTIONARY bare_${dictionary} (TEMPLATE = snowball, Language = ${dictionary})`,
    )
    const words = wordsIn(language)
    const { rows } = await client.query(
      `SELECT word, (ts_lexize('bare_${dictionary}', word))[1] AS stem FROM unnest($1::text[]) AS word`,
      [words],
    )
    t.equal(rows.length, words.length)
    t.strictSame(
      rows.filter(({ word, stem }) => !stemsIn(language, word).includes(fold(stem))),
      [],
    )
  })
}

/** Words of a language, and random words with the endings of others: the same on every run. */
function wordsIn(language: string): string[] {
  const corpus = ['de', 'en', 'es', 'fr', 'ru'].includes(language)
    ? readFileSync(new URL(`corpus/${language}.md`, import.meta.url), 'utf8')
    : ''
  const text = `${stopWordLists[language]} ${corpus}`.normalize('NFKC').toLowerCase()
  const words = text.match(/\p{L}{2,}/gu) ?? []
  const crossed = fc
    .tuple(fc.constantFrom(...words), fc.constantFrom(...words), fc.nat({ max: 6 }))
    .map(([word, other, ending]) => `${word}${other.slice(-1 - ending)}`)
  const all = [...words, ...fc.sample(crossed, runsTimes(20))]
  // The German stemmer of PostgreSQL 18 is newer: it reads ae, oe and ue as umlauts, and removes -erin, -ln and -lns.
  return [...new Set(all)].filter((word) => language !== 'de' || !/[aou]e|erin|lns?$/.test(word))
}
