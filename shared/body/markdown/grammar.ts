import type { parse } from 'micromark'
import type { htmlText } from 'micromark-core-commonmark'

/** An extension of the Markdown grammar in the form of micromark. */
export type Extension = NonNullable<NonNullable<Parameters<typeof parse>[0]>['extensions']>[number]

/** One construct of the grammar. */
export type Construct = typeof htmlText

/** The parser of one stretch of text. */
export type Tokenizer = ReturnType<ReturnType<typeof parse>['flow']>

/**
 * The function that reads a construct. It returns the state for the first character; a state is a function that reads
 * one character and returns the next state.
 */
export type Tokenize = Construct['tokenize']

/** A character code: a UTF-16 code unit, negative for line endings and tabs, null for the end of the text. */
export type Code = Parameters<ReturnType<Tokenize>>[0]

/** An event of the tokeniser: a token begins or ends. Events are in the order of the text. */
export type Event = Tokenizer['events'][number]

/** True for a character other than white space, punctuation and symbols, as in the rules for emphasis. */
export function isWordCharacter(code: Code): boolean {
  return code !== null && code > 0 && /[^\s\p{P}\p{S}]/u.test(String.fromCharCode(code))
}
