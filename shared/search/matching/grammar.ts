import { codePoints } from '../../schema/code-points.ts'
import { streamSafe } from '../text/fold.ts'
import { isIndexable } from '../text/lexemes.ts'
import { tokenise } from '../text/tokenise.ts'

const itemPattern = /"([^"]*)"|(?:[^\s"]|"(?![^"]*"))+/gu
// What may stand before a phrase: `-`, `title:` or both.
const signsPattern = /^(?:-|-?title:)$/u
// A word behind its signs. A second `-` makes the word literal.
const wordPattern = /^(?<excluded>-(?=[^-]))?(?<title>title:(?=.))?(?<text>.*)$/su
const spacePattern = /\s/u
// Two letters or digits, so that a single character is never searched for as the beginning of a word.
const beginningPattern = /[\p{L}\p{N}].*[\p{L}\p{N}]/su

/** How a query is read: `plain` knows words and phrases, `operators` also signs (api/guide/search.md#operators). */
export type Syntax = 'plain' | 'operators'

/** A word or phrase of a query as it was written, without its signs. */
export type Clause = {
  text: string
  phrase: boolean
  /**
   * Whether the clause matches words that begin with it: `no`; `also`, beside the word itself, for a word that is still
   * being typed; or `only`, for a word with an asterisk.
   */
  prefix: 'no' | 'also' | 'only'
  /** Whether the clause is a condition on the title of the document. */
  inTitle: boolean
  /** The UTF-16 offset of `text` in the text of the query. */
  start: number
}

/**
 * A query as it was written. Of each member of `required` a match contains at least one clause. A match contains none
 * of the clauses of `excluded`. `exclusionsAlone` is null, unless nothing is required: then it says where the query
 * begins to exclude, in code points. A query that only excludes would match almost everything.
 */
export type Query = {
  text: string
  required: readonly (readonly Clause[])[]
  excluded: readonly Clause[]
  exclusionsAlone: number | null
}

/**
 * Reads a query. Never throws: what is no operator is literal, and so is a quote without a partner. A query without
 * anything to search for has no clauses. With `typing`, the last word also matches as the beginning of a word. Takes
 * time in proportion to the length of the text. The grammar is in api/guide/search.md#matching.
 */
export function parseQuery(
  q: string,
  { syntax = 'plain', typing = false }: { syntax?: Syntax | undefined; typing?: boolean | undefined } = {},
): Query {
  const text = streamSafe(q).trim()
  const items = syntax === 'operators' ? withSigns(itemsOf(text)) : itemsOf(text)
  const last = items.at(-1)
  if (typing && last !== undefined && isBeginning(last)) last.clause.prefix = 'also'
  const required: Clause[][] = []
  let isAlternative = false
  for (const [index, { clause, isExcluded }] of items.entries()) {
    const group = isAlternative ? required.at(-1) : undefined
    isAlternative = syntax === 'operators' && isOr(items, index)
    if (isExcluded || isAlternative) continue
    if (group === undefined) required.push([clause])
    else group.push(clause)
  }
  const exclusions = items.filter(({ isExcluded }) => isExcluded)
  const [first] = exclusions
  const isRequired = first === undefined || required.flat().some(hasWord)
  return {
    text,
    required,
    excluded: exclusions.map(({ clause }) => clause),
    exclusionsAlone: isRequired ? null : codePoints(text.slice(0, first.from)),
  }
}

/**
 * An item of a query: a clause with its signs, which stand from the UTF-16 offset `from` to `end` in the text.
 * `isSpaced` says that the item stands at the beginning or after a space.
 */
type Item = { clause: Clause; isExcluded: boolean; isSpaced: boolean; from: number; end: number }

function itemsOf(text: string): Item[] {
  const items: Item[] = []
  for (const { 0: written, 1: quoted, index } of text.matchAll(itemPattern)) {
    const content = quoted ?? written
    const start = index + (quoted === undefined ? 0 : 1) + (content.length - content.trimStart().length)
    const clause: Clause = { text: content.trim(), phrase: quoted !== undefined, prefix: 'no', inTitle: false, start }
    const isSpaced = index === 0 || spacePattern.test(text.charAt(index - 1))
    items.push({ clause, isExcluded: false, isSpaced, from: index, end: index + written.length })
  }
  return items.filter(({ clause }) => clause.text !== '')
}

/** Reads the signs of operators. A sign stands at the beginning or after a space, and touches its word or phrase. */
function withSigns(items: readonly Item[]): Item[] {
  const read: Item[] = []
  for (const [index, item] of items.entries()) {
    const before = items[index - 1]
    if (before !== undefined && isSignOf(before, item)) {
      read.pop()
      const sign = before.clause.text
      const clause = { ...item.clause, inTitle: sign.endsWith('title:') }
      read.push({ ...before, clause, isExcluded: sign.startsWith('-'), end: item.end })
    } else read.push(item.clause.phrase || !item.isSpaced ? item : signedWord(item))
  }
  return read.map((item) => ({ ...item, isExcluded: item.isExcluded && hasWord(item.clause) }))
}

function isSignOf(before: Item, phrase: Item): boolean {
  if (!phrase.clause.phrase || before.clause.phrase || !before.isSpaced) return false
  return before.end === phrase.from && signsPattern.test(before.clause.text)
}

function signedWord(item: Item): Item {
  const { clause } = item
  const { excluded, title, text = '' } = wordPattern.exec(clause.text)?.groups ?? {}
  const beginning = text.endsWith('*') ? text.slice(0, -1) : ''
  const isPrefix = !beginning.includes('*') && beginningPattern.test(beginning)
  return {
    ...item,
    isExcluded: excluded !== undefined,
    clause: {
      ...clause,
      text: isPrefix ? beginning : text,
      prefix: isPrefix ? 'only' : 'no',
      inTitle: title !== undefined,
      start: clause.start + clause.text.length - text.length,
    },
  }
}

/** Whether an item is an `OR` between two positive terms. Where two of them follow each other, both are words. */
function isOr(items: readonly Item[], index: number): boolean {
  const [before, item, next] = [items[index - 1], items[index], items[index + 1]]
  if (before === undefined || next === undefined || !isCalledOr(item) || !next.isSpaced) return false
  return [before, next].every((neighbour) => !neighbour.isExcluded && !isCalledOr(neighbour))
}

function isCalledOr(item: Item | undefined): boolean {
  return item?.clause.text === 'OR' && item.end - item.from === 2 && item.isSpaced
}

function isBeginning({ clause: { text, phrase, prefix }, isExcluded }: Item): boolean {
  return !phrase && prefix === 'no' && !isExcluded && beginningPattern.test(text)
}

function hasWord({ text }: Clause): boolean {
  return tokenise(text, []).some(({ lexeme }) => isIndexable(lexeme))
}
