import { parseQuery } from '../../shared/search/matching/grammar.ts'
import { contextOf, matchTerms } from '../../shared/search/matching/match.ts'
import { halfCondition, termQueries } from '../../shared/search/matching/query.ts'
import { t } from '../support/tap.ts'

t.test('accents and case do not hide a word', async (t) => {
  for (const q of ['cafe', 'CAFÉ', 'cafe\u0301', 'Café']) t.ok(find('Ein Café', q).first, q)
  t.ok(find('strasse', 'Straße').first)
  t.ok(find('ΟΔΟΣ', 'οδος').first)
  t.ok(find('ｆｕｌｌ ﬁle', 'full file').first)
  t.equal(find('край', 'краи', ['simple']).first, null, 'й is a letter of its own')
})

t.test('a word is found in its other forms', async (t) => {
  for (const [text, q, language] of [
    ['two boxes', 'box', 'en'],
    ['one box', 'boxes', 'en'],
    ['he was running', 'runs', 'en'],
    ['die Häuser', 'Haus', 'de'],
    ['des animaux', 'animal', 'fr'],
    ['las canciones', 'canción', 'es'],
  ] as const) {
    t.ok(find(text, q, [language]).first, `${q} in ${text}`)
  }
  t.equal(find('the universe', 'box').first, null)
})

t.test('a stem of one language does not pass for a word of another', async (t) => {
  const input = { query: parseQuery('file'), languages: ['de', 'en'], language: 'en' }
  t.equal(matchTerms('the fil of it', { ...input, language: 'simple', languages: ['en'] }).first, null)
  t.ok(matchTerms('two files', input).first, 'though German stems the word otherwise')
})

t.test('a German compound is found by its parts where it is hyphenated, and whole otherwise', async (t) => {
  t.ok(find('die Archiv-Leitung', 'leitung', ['de']).first)
  t.ok(find('die Archiv-Leitung', 'Archiv-Leitungen', ['de']).first)
  t.ok(find('der Datenbanksicherungen', 'Datenbanksicherung', ['de']).first)
  t.equal(find('der Datenbanksicherungen', 'Daten', ['de']).first, null)
})

t.test('a quoted phrase is found in order only, also with other endings', async (t) => {
  t.ok(find('the quick brown foxes ran', '"quick brown fox"').first)
  t.equal(find('the brown quick fox', '"quick brown"').first, null)
  t.equal(find('quick and brown', '"quick brown"').first, null)
  t.match(find('a quick brown fox', 'fox "quick brown"').occurrences, [
    { term: 'fox', count: 1 },
    { term: 'quick brown', count: 1 },
  ])
})

t.test('stop words are ignored unless there is nothing else or they are quoted', async (t) => {
  t.same(requested('the kernel and a box'), ['kernel', 'box'])
  t.same(requested('to be or not to be'), ['to', 'be', 'or', 'not'])
  t.same(requested('"the" kernel'), ['the', 'kernel'])
  t.same(requested('to-do kernel'), ['to-do', 'kernel'])
  t.same(requested('die Katze'), ['die', 'Katze'], 'of a language that is not in scope')
  t.same(requested('kernel Kernel KERNEL'), ['kernel'])
})

t.test('what an apostrophe joins to a word is not asked for', async (t) => {
  t.ok(find('the dogs of John', "John's").first)
  t.ok(find('un homme', "l'homme", ['fr']).first)
  t.ok(find("l'homme", 'homme', ['fr']).first)
  t.equal(find('the dogs of John', '"John\'s"').first, null)
  t.equal(find('Brien', "O'Brien").first, null)
})

t.test('emoji are found, and no phrase is parted by them', async (t) => {
  t.equal(find('✅ done, ✅\ufe0f checked, ❌ open', '✅').matchCount, 2)
  t.ok(find('from 🇩🇪 to 🇫🇷', '🇫🇷').first)
  t.equal(find('from 🇩🇪 to 🇫🇷', '🇩🇫').first, null)
  t.ok(find('hello 👋 world', '"hello world"').first)
  t.match(find('hello world', 'hello 👋').occurrences[1], { term: '👋', count: 0 })
})

t.test('a quote without partner is literal, and what has no letters asks for nothing', async (t) => {
  t.same(requested('"a b" c"d'), ['a b', 'c"d'])
  t.same(requested('12" pipe'), ['12"', 'pipe'])
  for (const q of ['', '   ', '""', '— …', '" "', '\ud800']) t.same(requested(q), [], JSON.stringify(q))
  t.equal(find('anything', '—').first, null)
})

t.test('one Chinese character is found anywhere, and shown alone', async (t) => {
  for (const [q, start] of [
    ['档', 0],
    ['年', 3],
    ['次', 7],
  ] as const) {
    t.same(find('档案每年搬迁一次', q).first, { start, end: start + 1 }, q)
  }
  t.equal(find('日日日', '日').matchCount, 3)
})

t.test('the context of a hit is its own text', async (t) => {
  const text = `${'😀'.repeat(100)} Cafés ${'é'.repeat(100)}`
  const { first } = find(text, 'cafe')
  if (!first) throw new Error('not found')
  const { before, match, after } = contextOf(text, first)
  t.equal(match, 'Cafés')
  t.equal(before, `${'😀'.repeat(79)} `)
  t.equal(after, ` ${'é'.repeat(79)}`)
  t.same(contextOf('word', { start: 0, end: 4 }), { before: null, match: 'word', after: null })
})

t.test('a long query can be relaxed without a flood of combinations', async (t) => {
  const words = Array.from({ length: 80 }, (_, index) => `w${index}`)
  const relaxed = halfCondition(termQueries(parseQuery(words.join(' ')), ['en', 'de', 'fr']), ['@w1'])
  t.ok(relaxed && relaxed.length < 20_000)
  t.equal(halfCondition(termQueries(parseQuery('two words'), ['en']), []), null)
})

function requested(q: string): string[] {
  return termQueries(parseQuery(q), ['en']).map(({ text }) => text)
}

function find(text: string, q: string, languages = ['en']) {
  return matchTerms(text, { query: parseQuery(q), languages })
}
