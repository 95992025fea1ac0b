import { parseQuery } from './matching/grammar.ts'
import { type TermQuery, termQueries } from './matching/query.ts'
import type { Term } from './matching/term.ts'
import { isQuestionWord } from './text/question-words.ts'

// A search is relaxed only for so many words.
const leastWords = 3

const unspacedPattern = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]{2}/v
const particlePattern = /^\p{scx=Hira}+$/v
const inflectedPattern = /^(?<stem>\p{sc=Han}+)\p{sc=Hira}+$/v

const wordSegmenter = new Intl.Segmenter('und', { granularity: 'word' })

/**
 * The terms of which a relaxed match contains at least half, made of the terms of a search. A sentence in a script
 * without spaces is cut into its words. Words that ask and do not name are left out where other words remain. Null for
 * fewer than three words, which are never relaxed.
 */
export function relaxedTerms(
  terms: readonly (Term & TermQuery)[],
  languages: readonly string[],
): (Term & TermQuery)[] | null {
  const words = terms.flatMap((term) => wordsOf(term, languages))
  if (words.length < leastWords) return null
  const naming = words.filter(({ term, text }) => term.phrase || !isQuestionWord(text, languages))
  const kept = (naming.length > 0 ? naming : words).map(({ term }) => term)
  const known = new Set<string>()
  return kept.filter(({ tsquery }) => !known.has(tsquery) && known.add(tsquery))
}

type Word = { term: Term & TermQuery; text: string }

function wordsOf(term: Term & TermQuery, languages: readonly string[]): Word[] {
  if (term.phrase || !unspacedPattern.test(term.text)) return [{ term, text: term.text }]
  const words = [...wordSegmenter.segment(term.text)].filter(({ isWordLike }) => isWordLike)
  if (words.length < 2) return [{ term, text: term.text }]
  return words
    .filter(({ segment }) => !particlePattern.test(segment))
    .flatMap(({ segment }) => {
      // The ending of a Japanese verb or adjective changes, and the characters before it stay.
      const stem = inflectedPattern.exec(segment)?.groups?.stem ?? segment
      return termQueries(parseQuery(stem), languages).map((word) => ({ term: word, text: segment }))
    })
}
