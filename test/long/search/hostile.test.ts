import { extractCandidates } from '../../../shared/concepts/candidates/extract.ts'
import { assignOrds } from '../../../shared/search/index/index-document.ts'
import { blockVector } from '../../../shared/search/index/vector.ts'
import { parseQuery } from '../../../shared/search/matching/grammar.ts'
import { highlightsOf } from '../../../shared/search/matching/highlights.ts'
import { matchTerms } from '../../../shared/search/matching/match.ts'
import { detectLanguage } from '../../../shared/search/text/detect-language.ts'
import { normalise, streamSafe } from '../../../shared/search/text/fold.ts'
import { plainAnswer, truncate } from '../../../shared/summaries/plain.ts'
import { rankPassages } from '../../../shared/summaries/query-answer.ts'
import { t } from '../../support/tap.ts'

const length = 60_000
const ordinary = repeated('The archive of Mrs Smith moves its 1,000 boxes once a year; see src/lib/db.ts. ')

const hostile: Record<string, string> = {
  'marks of one class': `a${repeated('\u0301')}`,
  'marks of several classes': `a${repeated('\u0301\u0323\u0315\u0334')}`,
  'marks of no letter': repeated('\u0301\u0323'),
  'Arabic vowel signs': `ب${repeated('\u064b\u0651\u0670')}`,
  'Indic marks with joiners': `क${repeated('\u094d\u093c\u200d')}`,
  'halfwidth sound marks': `ｶ${repeated('\uff9e\u0301\uff9f\u0323')}`,
  'Hangul letters': repeated('\u1112\u1161\u11ab\u1100'),
  'one word': repeated('a'),
  'a word of capitals inside': repeated('aBc'),
  'identifiers in a row': repeated('fetchUser_v2.'),
  'a path': repeated('a/'),
  slashes: repeated('/'),
  'a version': repeated('v1.'),
  digits: repeated('1'),
  emoji: repeated('👩‍'),
  'soft hyphens': `a${repeated('\u00ad')}`,
  Chinese: repeated('档案每年搬迁一次'),
  Thai: repeated('ภาษาไทย'),
  quotes: repeated('"'),
  'white space': `a${repeated(' ')}b`,
  'all different words': Array.from({ length: length / 6 }, (_, index) => `w${index}`)
    .join(' ')
    .slice(0, length),
}

const tasks: Record<string, (text: string) => unknown> = {
  'to index it': (text) => blockVector({ text, language: 'en', isTitle: false, isHeading: false, scopes: ['@w1'] }),
  'to show a match in it': (text) =>
    matchTerms(text, { query: parseQuery('a "of the" v1.1 档案 b/c'), languages: ['en'] }),
  'to mark the matches in it': (text) => {
    const { first, near } = matchTerms(text, { query: parseQuery('a 1 w1 档 ไ 👩 "a b" भ'), languages: ['en'] })
    return first && highlightsOf(text, { first, near })
  },
  'to guess its language': detectLanguage,
  'to answer a question from it': (text) =>
    rankPassages([{ documentId: 'doc_1', blockId: 'block_1', isHeading: false, text }], text.slice(0, 200)),
  'to cut it': (text) => truncate(text, length - 2),
  'to take it as the answer of a model': (text) => plainAnswer(text, 20_000),
}

// What was quadratic took hundreds of times as long as an ordinary text; scripts whose every character is a token take
// a few times as long.
const mostTimes = 25

for (const [task, run] of Object.entries(tasks)) {
  t.test(`no text of a stranger takes many times as long as an ordinary one ${task}`, async (t) => {
    const usual = cpuTime(() => tasks['to index it']?.(ordinary))
    for (const [name, text] of Object.entries(hostile)) t.ok(cpuTime(() => run(text)) < mostTimes * usual, name)
  })
}

t.test('the marks beyond the thirtieth of a character are not indexed, and nothing else is lost', async (t) => {
  const text = `before क${'\u094d\u093c'.repeat(50)} after`
  const { text: indexed, startAt, endAt } = normalise(text)
  t.equal(indexed, `before क${'\u093c'.repeat(15)}${'\u094d'.repeat(15)} after`)
  t.equal(indexed, streamSafe(text))
  t.equal(text.slice(startAt(indexed.indexOf('after')), endAt(indexed.length)), 'after')
  for (const q of ['before', 'after', text.slice(7, -6)]) {
    const { first } = matchTerms(text, { query: parseQuery(q), languages: ['en'] })
    t.ok(first !== null && text.slice(first.start, first.end).startsWith(q.slice(0, 20)), q.slice(0, 20))
  }
  const thirty = `क${'\u094d\u093c'.repeat(15)}`
  t.equal(streamSafe(thirty), thirty.normalize('NFKC'), 'thirty are not touched')
})

t.test('thousands of links in one paragraph cost what they cost in paragraphs of their own', async (t) => {
  const count = 4000
  const links = Array.from({ length: count }, (_, index) => [
    { type: 'text', text: `term${index}`, marks: [{ type: 'link', attrs: { href: `https://example.org/${index}` } }] },
    { type: 'text', text: ' and ' },
  ])
  const paragraph = (id: string, content: object[]) => JSON.stringify({ attrs: { id }, content, type: 'paragraph' })
  const apart = links.map((content, index) => paragraph(`block_${index}`, content)).join('\n')
  const together = paragraph('block_1', links.flat())
  const extract = (text: string) => extractCandidates({ documentId: 'doc_1', title: 'Terms', text })
  t.equal(extract(together).length, count + 1)
  t.match(extract(together)[2]?.excerpt, /^term0 and term1 and term2 and (term\d+ and )+/)
  t.ok(cpuTime(() => extract(together)) < mostTimes * cpuTime(() => extract(apart)))
})

t.test('a block between every two of a long document costs what as many at its end cost', async (t) => {
  const count = 40_000
  const between = Array.from({ length: count }, (_, index) => (index % 2 === 0 ? (index + 1) * 65_536 : null))
  const behind = between.map((_, index) => (index < count / 2 ? (index + 1) * 65_536 : null))
  t.ok(cpuTime(() => assignOrds(between)) < mostTimes * cpuTime(() => assignOrds(behind)))
  t.strictSame(assignOrds([65_536, null, 131_072, null, null]), [65_536, 98_304, 131_072, 196_608, 262_144])
})

function repeated(part: string): string {
  return part.repeat(Math.ceil(length / part.length)).slice(0, length)
}

/** Time on the processor in microseconds, the least of three runs, which other processes disturb least. */
function cpuTime(run: () => unknown): number {
  const times = [1, 2, 3].map(() => {
    const begun = process.threadCpuUsage()
    run()
    const { user, system } = process.threadCpuUsage(begun)
    return user + system
  })
  return Math.min(...times)
}
