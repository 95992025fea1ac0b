import fc from 'fast-check'
import { parseQuery } from '../../shared/search/matching/grammar.ts'
import { runsTimes } from '../support/runs.ts'
import { t } from '../support/tap.ts'

t.test('signs are read as the guide says', (t) => {
  const expected: Record<string, string> = {
    'a b': 'a & b',
    '-a b': 'b ! a',
    '-"a b" c': 'c ! "a b"',
    'a OR b c': 'a|b & c',
    'a OR b OR "c d"': 'a|b|"c d"',
    'title:a -title:"b c"': 'title:a ! title:"b c"',
    'title:ab* -cd*': 'title:ab* ! cd*',
    'a OR -b': 'a & OR ! b',
    '-a OR b': 'OR & b ! a',
    'OR a': 'OR & a',
    'a OR': 'a & OR',
    'a OR OR b': 'a & OR & OR & b',
    'a or b': 'a & or & b',
    'a*': 'a*',
    'ab**': 'ab**',
    'a*b': 'a*b',
    '--a b': '--a & b',
    'a-b c:d': 'a-b & c:d',
    '- a': '- & a',
    'title: a': 'title: & a',
    'title:title:a': 'title:title:a',
    '"a"-b c': '"a" & -b & c',
    '-"a': '! "a',
    'x -title: b': 'x & b ! title:',
  }
  for (const [q, read] of Object.entries(expected)) t.equal(written(q), read, q)
  t.end()
})

t.test('without operators and typing, a query is words and phrases', (t) => {
  const { required, excluded } = parseQuery('-a title:b c* "d OR e" OR f')
  t.strictSame(
    required.map(([clause]) => [clause?.text, clause?.phrase, clause?.prefix, clause?.inTitle]),
    ['-a', 'title:b', 'c*', 'd OR e', 'OR', 'f'].map((text) => [text, text.includes(' '), 'no', false]),
  )
  t.strictSame(excluded, [])
  t.end()
})

t.test('only the last word is still being typed, and only if it can be the beginning of a word', (t) => {
  const typed = (q: string) =>
    parseQuery(q, { syntax: 'operators', typing: true })
      .required.flat()
      .filter(({ prefix }) => prefix === 'also')
      .map(({ text }) => text)
  for (const q of ['ab cd', 'x title:cd', 'x OR cd', '"ab" cd']) t.strictSame(typed(q), ['cd'], q)
  for (const q of ['ab "cd"', 'ab -cd', 'ab c', 'ab c.', 'ab cd*', 'ab …']) t.strictSame(typed(q), [], q)
  t.end()
})

t.test('a clause stands in its query where it says', (t) => {
  const part = fc.oneof(
    fc.constantFrom('-', '"', 'title:', 'OR', '*', ' ', 'ab', 'é', '😀', '漢'),
    fc.string({ unit: 'grapheme' }),
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 30 }), fc.constantFrom('plain', 'operators'), (parts, syntax) => {
      const { text, required, excluded, exclusionsAlone } = parseQuery(parts.join(''), { syntax, typing: true })
      for (const clause of [...required.flat(), ...excluded]) {
        if (text.slice(clause.start, clause.start + clause.text.length) !== clause.text) throw new Error(clause.text)
      }
      if (exclusionsAlone === null) return
      const sign = Array.from(text)[exclusionsAlone]
      if (sign !== '-' || required.flat().some((clause) => /^\w+$/.test(clause.text))) throw new Error(text)
    }),
    runsTimes(5),
  )
  t.end()
})

t.test('ten thousand operators are read one by one', (t) => {
  const read = (q: string) => parseQuery(q, { syntax: 'operators', typing: true })
  t.equal(read(`a ${'-b '.repeat(10_000)}`).excluded.length, 10_000)
  t.equal(read(`${'a OR '.repeat(10_000)}b`).required.length, 1)
  t.equal(read('title:a '.repeat(10_000)).required.length, 10_000)
  t.equal(read('-"a b"'.repeat(10_000)).required.length, 19_998)
  t.equal(read('a'.repeat(1_000_000)).required.length, 1)
  t.end()
})

/** A query as it is read: alternatives joined by `|`, requirements by `&`, exclusions behind `!`. */
function written(q: string): string {
  const { required, excluded } = parseQuery(q, { syntax: 'operators' })
  const clauseOf = ({ text, phrase, prefix, inTitle }: (typeof excluded)[number]) =>
    `${inTitle ? 'title:' : ''}${phrase ? `"${text}"` : text}${prefix === 'only' ? '*' : ''}`
  const needed = required.map((clauses) => clauses.map(clauseOf).join('|')).join(' & ')
  return `${needed}${excluded.map((clause) => ` ! ${clauseOf(clause)}`).join('')}`.trim()
}
