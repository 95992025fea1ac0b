import { codePoints } from '../../schema/code-points.ts'
import type { Token } from './tokenise.ts'

// Numbers and codes are left out: nobody can tell whether they are misspelt, and there is no end of them.
const wordPattern = /^\p{L}[\p{L}\p{M}']*$/u
const shortest = 3
const longest = 40

/**
 * Whether a token is a word that a search may suggest in place of a misspelt word: 3 to 40 letters, of a script with
 * spaces between words. The vocabulary holds the folded form of such words.
 */
export function isVocabulary({ lexeme, kind }: Token): boolean {
  if (kind === 'ngram' || kind === 'whole' || !wordPattern.test(lexeme)) return false
  const length = codePoints(lexeme)
  return length >= shortest && length <= longest
}
