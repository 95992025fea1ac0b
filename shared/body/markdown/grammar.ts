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

/** True if a dollar between these characters may begin math by GitHub's rule. */
export function mayOpenMath(before: string, after: string): boolean {
  return !/[\p{L}\p{N}]/u.test(before) && /[^\s$]/.test(after)
}

/**
 * True if a dollar behind these two characters, and before `after`, may end math by GitHub's rule. A quotation mark
 * behind white space begins a quotation, as in `"$@" "$*"`, and a double one never ends math.
 */
export function mayCloseMath(before: string, after: string): boolean {
  return !/(?:^|\s|"|\s')$/.test(before) && !/[\p{L}\p{N}$({]/u.test(after)
}

// Scripts without spaces between words and their punctuation; besides, what no character reference can stand for:
// halves of surrogate pairs, control characters and noncharacters.
const anyLetter =
  /[\p{scx=Hani}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Bopo}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}\uff00-\uffef\p{Cs}\p{Cc}\ufdd0-\ufdef\ufffe\uffff]/u

/**
 * True for a character beside which a mark may begin and end, whatever is on the other side of the sign. CommonMark
 * reads no mark between punctuation and a letter, as in `**重要（とても）**です`, because it expects spaces between words.
 */
export function isBesideAnyLetter(code: Code): boolean {
  return code !== null && code > 13
    ? anyLetter.test(String.fromCharCode(code))
    : code === 11 || (code !== null && code >= 0 && code < 9)
}

/** A construct of marks that also reads marks beside these characters. */
export function besideAnyLetter(construct: Construct): Construct {
  return {
    ...construct,
    tokenize(effects, ok, nok) {
      const before = this.previous
      const settle: typeof ok = (code) => {
        const sequence = this.events.at(-1)?.[1] as { _open?: boolean; _close?: boolean }
        if (isBesideAnyLetter(before) || isBesideAnyLetter(code)) {
          if (!isSpace(code)) sequence._open = true
          if (!isSpace(before)) sequence._close = true
        }
        return ok(code)
      }
      return construct.tokenize.call(this, effects, settle, nok)
    },
  }
}

/** True for white space, the start and the end of a text. Negative codes stand for line endings and tabs. */
function isSpace(code: Code): boolean {
  return code === null || code < 0 || (!isBesideAnyLetter(code) && /\s/.test(String.fromCharCode(code)))
}
