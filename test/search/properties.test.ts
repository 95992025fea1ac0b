import fc from 'fast-check'
import { parseQuery } from '../../shared/search/matching/grammar.ts'
import { contextOf, matchTerms } from '../../shared/search/matching/match.ts'
import { termQueries } from '../../shared/search/matching/query.ts'
import { fold, normalise } from '../../shared/search/text/fold.ts'
import { tokenise } from '../../shared/search/text/tokenise.ts'
import { t } from '../support/tap.ts'
import { anyText, fewWords } from './random-text.ts'

const languages = ['en', 'de', 'fr', 'ru']

t.test('whatever a document says, its words are shown where they stand in it', async (t) => {
  fc.assert(
    fc.property(anyText(), (text) => {
      let position = 1
      for (const token of tokenise(text, languages)) {
        const shown = fold(normalise(text.slice(token.start, token.end)).text)
        if (!shown.includes(token.lexeme)) throw new Error(`${token.lexeme} is shown as ${shown}`)
        const apart = token.kind === 'appended' ? 1 : 0
        if (token.position < position - 1 || token.position > position + apart)
          throw new Error('a position is left out')
        if (token.kind !== 'whole') position = token.position + 1
      }
    }),
  )
  t.pass()
})

t.test('every word of a text is found in it', async (t) => {
  fc.assert(
    fc.property(anyText(), (text) => {
      for (const word of wordsOf(text)) mustFind(text, word)
    }),
  )
  t.pass()
})

t.test('words in a row are found in their text when they are quoted', async (t) => {
  fc.assert(
    fc.property(anyText(), fc.nat(), fc.nat(), (text, from, count) => {
      const words = wordsOf(text)
      const start = from % (words.length + 1)
      mustFind(text, `"${words.slice(start, start + (count % 5) + 1).join(' ')}"`)
    }),
  )
  t.pass()
})

t.test('any stretch of Chinese, Japanese, Korean or Thai text is found in it', async (t) => {
  const texts = fc.constantFrom(
    '档案每年搬迁一次',
    'データベースの記録を確認',
    '데이터베이스관리자에게',
    'หอจดหมายเหตุย้ายปีละครั้ง',
  )
  fc.assert(
    fc.property(texts, fewWords(), fc.nat(), fc.nat(), (text, around, from, count) => {
      const characters = Array.from(text)
      const start = from % characters.length
      const sought = characters.slice(start, start + 1 + (count % characters.length)).join('')
      mustFind(`${around} ${text} ${around}`, sought)
      mustFind(`${around} ${text} ${around}`, `"${sought}"`)
    }),
  )
  t.pass()
})

t.test('the words around a hit are those of the text, at most 80 characters a side, none of them broken', async (t) => {
  fc.assert(
    fc.property(anyText(), anyText(), anyText(), (left, middle, right) => {
      const text = left.repeat(4) + middle + right.repeat(4)
      const { first } = matchTerms(text, { query: parseQuery(wordsOf(middle)[0] ?? ''), languages })
      if (!first) return
      const { before, match, after } = contextOf(text, first)
      if (!text.includes(`${before ?? ''}${match}${after ?? ''}`)) throw new Error('the context is not in the text')
      if ((before === null) !== (first.start === 0)) throw new Error('something before is left out')
      if ((after === null) !== (first.end === text.length)) throw new Error('something after is left out')
      for (const part of [before, match, after]) {
        if (part?.isWellFormed() === false) throw new Error('a character is broken')
      }
      if (Math.max(...[before, after].map((part) => Array.from(part ?? '').length)) > 80) throw new Error('too long')
    }),
  )
  t.pass()
})

function mustFind(text: string, q: string): void {
  const query = parseQuery(q)
  const terms = termQueries(query, languages)
  const { occurrences, first } = matchTerms(text, { query, languages })
  if (terms.length !== occurrences.length) throw new Error('index and text disagree on the terms')
  if (terms.length === 0) return
  if (!first || occurrences.some(({ count }) => count === 0)) {
    throw new Error(`${JSON.stringify(q)} is not found in ${JSON.stringify(text)}: ${JSON.stringify(terms)}`)
  }
}

function wordsOf(text: string): string[] {
  return text.split(/[\s"]+/u).filter(Boolean)
}
