import { readdirSync, readFileSync } from 'node:fs'
import { parseQuery } from '../../shared/search/matching/grammar.ts'
import { matchTerms } from '../../shared/search/matching/match.ts'
import { detectLanguage } from '../../shared/search/text/detect-language.ts'
import type { Figure } from './harness.ts'

const folder = new URL('../search/corpus/', import.meta.url)
const unspaced = ['ja', 'ko', 'th', 'zh']

/**
 * Measures recall in the committed texts, for words of a dictionary or, without spaces between words, for substrings.
 */
export function measureQuality(): Figure[] {
  return readdirSync(folder)
    .sort()
    .map((file) => {
      const name = file.replace('.md', '')
      const text = readFileSync(new URL(file, folder), 'utf8')
      const words = recall(text, dictionaryWords(text, name))
      const substrings = unspaced.includes(name) ? recall(text, substringsOf(text)) : null
      const value = substrings === null ? words.toFixed(2) : `${words.toFixed(2)} / ${substrings.toFixed(2)}`
      const met = words >= 0.99 && (substrings ?? 1) >= 0.98
      return { name: `recall in ${name}, words / substrings`, value, bar: 'at least 0.99 / 0.98', met }
    })
}

function recall(text: string, queries: readonly string[]): number {
  const language = detectLanguage(text)
  const languages = ['de', 'en', 'es', 'fr', 'ru', 'simple']
  const found = queries.filter((q) => matchTerms(text, { query: parseQuery(q), languages, language }).first !== null)
  return found.length / queries.length
}

function dictionaryWords(text: string, locale: string): string[] {
  const segments = new Intl.Segmenter(locale, { granularity: 'word' }).segment(text)
  return [...new Set([...segments].filter(({ isWordLike }) => isWordLike).map(({ segment }) => segment))]
}

function substringsOf(text: string): string[] {
  // Latin words in such a text are whole words, so no part of them is searched.
  const runs = text.match(/(?:(?!\p{Script=Latin})[\p{L}\p{M}]){4,}/gu) ?? []
  return runs.flatMap((run) => {
    const characters = [...new Intl.Segmenter('und', { granularity: 'grapheme' }).segment(run)].map(
      (one) => one.segment,
    )
    return characters.slice(0, -2).map((_, index) => characters.slice(index, index + 2 + (index % 3)).join(''))
  })
}
