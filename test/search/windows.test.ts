import fc from 'fast-check'
import { parseQuery } from '../../shared/search/matching/grammar.ts'
import { requiredTerms } from '../../shared/search/matching/query.ts'
import { windowSize, windowsOf } from '../../shared/search/matching/windows.ts'
import { rankHits } from '../../shared/search/rank.ts'
import type { Hit } from '../../shared/search/statement/hits.ts'
import { t } from '../support/tap.ts'

t.test('no character of a long text goes unsearched', async () => {
  const part = fc.constantFrom(
    'word ',
    'x'.repeat(40_000),
    '👩'.repeat(20_000),
    ' '.repeat(33_000),
    'ice\n'.repeat(5000),
  )
  const texts = fc.array(part, { maxLength: 8 }).map((parts) => parts.join(''))
  fc.assert(
    fc.property(texts, fc.constantFrom(windowSize, windowSize / 2), (text, firstSize) => {
      const windows = windowsOf(text, firstSize)
      return (
        windows.map((window) => window.text).join('') === text &&
        windows.every(({ text: window, start }) => window.length <= windowSize && text.startsWith(window, start)) &&
        windows.every((window) => window.text.isWellFormed())
      )
    }),
  )
})

t.test('a phrase at the border of two windows is found', async (t) => {
  const filler = 'ice '.repeat((windowSize - 4) / 4)
  const [found] = await rank(`${filler}red fox ${filler}`, '"red fox"')
  t.match(found, { matchCount: 1, context: { match: 'red fox' }, explanation: { exact: false } })
  const [whole] = await rank('a red fox', '"red fox"')
  t.match(whole, { explanation: { exact: true } })
})

t.test('others are served while a long text is searched', async (t) => {
  let served = 0
  let searching = true
  const serve = () => {
    served += 1
    if (searching) setImmediate(serve)
  }
  setImmediate(serve)
  await rank('ice and snow '.repeat(80_000), 'snow')
  searching = false
  t.ok(served >= 10)
})

function rank(body: string, q: string) {
  const hit = { body, language: 'en', type: 'paragraph', length: 10, document_id: 'doc_1', ord: 1 } as Hit
  const terms = requiredTerms(parseQuery(q), ['en'])
  return rankHits([hit], { terms, weights: [1], averageLength: 20, minimumShouldMatch: 1, order: 'score' })
}
