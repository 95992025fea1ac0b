import fc from 'fast-check'
import { parseQuery } from '../../shared/search/matching/grammar.ts'
import { type Highlight, highlightsOf } from '../../shared/search/matching/highlights.ts'
import { contextOf, matchesOf, matchTerms } from '../../shared/search/matching/match.ts'
import { requiredTerms } from '../../shared/search/matching/query.ts'
import { matchesInWindows, windowSize, YieldingTurns } from '../../shared/search/matching/windows.ts'
import { tokenise } from '../../shared/search/text/tokenise.ts'
import { t } from '../support/tap.ts'
import { anyText, fewWords } from './random-text.ts'

const languages = ['en', 'de', 'fr', 'ru']

t.test('every shown place of every term is marked, as it stands in the text', async (t) => {
  for (const [text, q, marked] of [
    ['the herons and a heron', 'heron', ['herons', 'heron']],
    ['Ein Café, zwei Cafés', 'CAFE', ['Café', 'Cafés']],
    ['Cafe\u0301 und Ölkannen', 'café ölkanne', ['Cafe\u0301', 'Ölkannen']],
    ['档案每年搬迁一次,每年', '每年', ['每年', '每年']],
    ['日日日', '日', ['日', '日', '日']],
    ['หอจดหมายเหตุย้ายปีละครั้ง', 'ย้ายปี', ['ย้ายปี']],
    ['데이터베이스관리자에게', '관리자', ['관리자']],
    ['नमस्ते दुनिया', 'दुनिया', ['दुनिया']],
    ['مُحَمَّد هنا', 'محمد', ['مُحَمَّد']],
    ['the quick brown foxes, brown', '"quick brown fox" brown', ['quick brown foxes', 'brown']],
    ['call fetchUser_v2 for a user', 'fetchUser_v2 user', ['fetchUser_v2', 'user']],
    ['see src/lib/db.ts', 'lib db.ts', ['lib', 'db.ts']],
    ['from v2.1.0 to 2.1.0', '2.1.0', ['v2.1.0', '2.1.0']],
    ['😀 storks 😀 storks 😀', 'stork', ['storks', 'storks']],
    ['𝒽erons 𠮷野家', '𠮷野', ['𠮷野']],
    ['done ✅ and 👋', '✅ 👋', ['✅', '👋']],
  ] as const) {
    t.strictSame(markedIn(text, q), marked, `${q} in ${text}`)
  }
})

t.test('the text around a match has no half of a flag, an emoji or a letter with its accents', async (t) => {
  for (const [sign, whole] of [
    ['\u{1F1E9}\u{1F1EA}', '\u{1F1E9}\u{1F1EA}'],
    ['e\u0301\u0323', 'e\u0301\u0323'],
    ['\u{1F468}\u200d\u{1F469}\u200d\u{1F467}', '\u{1F468}\u200d\u{1F469}\u200d\u{1F467}'],
    ['각', '각'],
    ['นี้', 'นี้'],
  ] as const) {
    for (const shift of ['', 'x', 'xx', 'xxx', 'xxxx']) {
      const text = `${sign.repeat(60)}${shift} heron ${shift}${sign.repeat(60)}`
      const { before, after } = contextOf(text, { start: text.indexOf('heron'), end: text.indexOf('heron') + 5 })
      const signs = `(?:${whole})+`
      t.match(before, new RegExp(`^${signs}${shift} $`), `${sign} before`)
      t.match(after, new RegExp(`^ ${shift}${signs}$`), `${sign} behind`)
    }
  }
})

t.test('a place that the text around the first match cuts off is not marked', async (t) => {
  const far = `heron ${'x '.repeat(38)}ab heron ${'x '.repeat(40)} heron`
  t.strictSame(markedIn(far, 'heron'), ['heron'])
  t.strictSame(markedIn(far.replace(' ab', ''), 'heron'), ['heron'])
  t.strictSame(markedIn(far.replace('x x x x ', ''), 'heron'), ['heron', 'heron'])
})

t.test('marks lie in the shown text, in order and apart, and hold nothing but what was searched for', async (t) => {
  const pairs = fc.oneof(
    fc.tuple(anyText(), fewWords()),
    fc.tuple(fewWords(), fc.nat(), fc.nat()).map(([text, from, count]): [string, string] => {
      const words = text.split(/[\s"]+/u).filter(Boolean)
      const start = from % (words.length + 1)
      return [text, words.slice(start, start + 1 + (count % 3)).join(count % 2 === 0 ? ' ' : '-')]
    }),
  )
  fc.assert(
    fc.property(pairs, fewWords(), ([text, q], behind) => {
      const { shown, highlights } = highlighted(`${text} ${behind}`, q)
      let past = 0
      for (const [start, end] of highlights) {
        if (start < past || end <= start || end > shown.length) throw new Error(`[${start}, ${end}) in ${shown.length}`)
        past = end
        const marked = shown.slice(start, end).join('')
        if (!marked.isWellFormed()) throw new Error('a character is broken')
        const { first } = matchTerms(marked, { query: parseQuery(q), languages })
        if (first?.start !== 0) throw new Error(`${JSON.stringify(marked)} is marked for ${JSON.stringify(q)}`)
      }
    }),
  )
  t.pass()
})

t.test('no place of a word is left out, whatever stands around it', async (t) => {
  const words = fc.constantFrom('heron', 'héron', '日本', 'ไทย', '😀', 'й', 'ﬁle', 'नमस्ते')
  const gaps = fc.constantFrom(' ', ', ', ' 😀 ', ' e\u0301 ', '\n', ' 𠮷 ', ' x ')
  fc.assert(
    fc.property(words, fc.array(gaps, { minLength: 1, maxLength: 12 }), (word, between) => {
      const text = between.map((gap) => `${word}${gap}`).join('')
      const { shown, highlights } = highlighted(text, word)
      const expected = shown.join('').split(word).length - 1
      if (highlights.length !== expected) throw new Error(`${highlights.length} of ${expected} in ${text}`)
    }),
  )
  t.pass()
})

t.test('a text of many windows has the marks that it has as a whole', async (t) => {
  const filler = 'no such word here '.repeat(Math.ceil(windowSize / 18))
  // The first window ends behind the first of the herons.
  const text = `${filler.slice(0, windowSize - 8)} heron, a second heron and herons ${filler}heron`
  const terms = requiredTerms(parseQuery('heron'), ['en'])
  const turns = new YieldingTurns()
  const { first, near } = await matchesInWindows(text, { terms, language: 'en', turns })
  if (first === null) throw new Error('not found')
  const whole = matchesOf(terms, tokenise(text, ['en']))
  t.strictSame(highlightsOf(text, { first, near }), highlightsOf(text, { first, near: whole.near }))
  t.equal(highlightsOf(text, { first, near }).length, 3)
})

t.test('a text that is nothing but matches has no more marks than its context has characters', async (t) => {
  for (const text of ['a '.repeat(60_000), '档'.repeat(60_000), '😀'.repeat(30_000)]) {
    const [q = ''] = text
    const { shown, highlights } = highlighted(text, Array.from(text)[0] ?? q)
    t.ok(highlights.length > 40 && highlights.length <= shown.length, `${highlights.length} marks`)
  }
})

function markedIn(text: string, q: string): string[] {
  const { shown, highlights } = highlighted(text, q)
  return highlights.map(([start, end]) => shown.slice(start, end).join(''))
}

/** The code points around the first match, and the marks in them. */
function highlighted(text: string, q: string): { shown: string[]; highlights: Highlight[] } {
  const { first, near } = matchTerms(text, { query: parseQuery(q), languages })
  if (first === null) return { shown: [], highlights: [] }
  const { before, match, after } = contextOf(text, first)
  const shown = Array.from(`${before ?? ''}${match}${after ?? ''}`)
  return { shown, highlights: highlightsOf(text, { first, near }) }
}
