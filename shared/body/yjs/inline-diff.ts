import type { BodyNode } from '../document.ts'
import { equalJson } from '../equal-json.ts'
import { type Match, matchSequences } from '../sequence.ts'
import { type Formats, formatsOf } from './encoding.ts'
import { type InlineToken, inlineTokensOf, type Line, lineOf, lineText, sliceLine } from './line.ts'

/** An edit that replaces the content between two offsets. */
export type InlineEdit = { start: number; end: number; insert: BodyNode[] }

/** A change of marks between two offsets. Null ends a mark. */
export type InlineFormat = { start: number; end: number; set: Formats }

/** A set of changes of inline content. All offsets refer to the content before any of the changes. */
export type InlineChange = { edits: InlineEdit[]; formats: InlineFormat[] }

// The most times that nodes are looked at for the edits of one block's inline content. Each edit looks at all nodes.
// Content that needs more is replaced as a whole, between the common start and the common end.
const mostLooks = 1_000_000

/**
 * Returns the change that turns inline content into other inline content. Words are replaced as a whole. Common words
 * stay, at most with other marks.
 */
export function diffInline(fromNodes: readonly BodyNode[], toNodes: readonly BodyNode[]): InlineChange {
  const [from, to] = [lineOf(fromNodes), lineOf(toNodes)]
  const found = matchTokens(inlineTokensOf(from, wholeKey), inlineTokensOf(to, wholeKey))
  const matches = found.length * from.nodes.length > mostLooks ? found.filter((match) => isEnd(match, from, to)) : found
  return { edits: editsBetween(matches, from, to), formats: matches.flatMap((match) => reformat(match, from, to)) }
}

/**
 * Adapts the change `from` → `to` to inline content that has become `live` meanwhile. Edits that the live content
 * already has are left out. New text stays beside its left neighbour, and removed text does not come back.
 */
export function rebaseInline(input: {
  change: InlineChange
  from: readonly BodyNode[]
  live: readonly BodyNode[]
}): InlineChange {
  const [from, live] = [lineOf(input.from), lineOf(input.live)]
  if (lineText(from) === lineText(live)) return input.change
  const kept = matchClosely(from, live)
  const done = new Set(diffInline(input.from, input.live).edits.map(editKey))
  const edits = input.change.edits.filter((edit) => !done.has(editKey(edit)))
  return {
    edits: edits.flatMap((edit) => rebaseEdit(edit, kept)),
    formats: input.change.formats.flatMap((format) => overlaps(format, kept).map((range) => ({ ...format, ...range }))),
  }
}

/**
 * The stretches that a line kept when it became another line, in ascending order. Both lines are given as text, with
 * U+FFFC for each node other than a text.
 */
export function keptStretches(from: string, to: string): Match[] {
  if (from === to) return from === '' ? [] : [{ a: 0, b: 0, length: from.length }]
  return matchClosely(lineOf([{ type: 'text', text: from }]), lineOf([{ type: 'text', text: to }]))
}

/** The common start and the common end of two lines, as stretches that a line kept. Costs less than `keptStretches`. */
export function keptEnds(from: string, to: string): Match[] {
  const { prefix, suffix } = commonEnds(from, to)
  const ends = [
    { a: 0, b: 0, length: prefix },
    { a: from.length - suffix, b: to.length - suffix, length: suffix },
  ]
  return ends.filter(({ length }) => length > 0)
}

function matchTokens(a: readonly InlineToken[], b: readonly InlineToken[]): Match[] {
  const keysOf = (tokens: readonly InlineToken[]) => tokens.map((token) => token.key)
  return matchSequences(keysOf(a), keysOf(b)).map((match) => {
    const [first, last] = [a[match.a], a[match.a + match.length - 1]]
    const start = first?.start ?? 0
    return { a: start, b: b[match.b]?.start ?? 0, length: last ? last.start + last.length - start : 0 }
  })
}

/**
 * The stretches of `from` that `live` kept. Nodes are compared by type only, because an editor also writes attributes
 * that have their default. In words that differ, the common beginning and end count as kept, since people type into
 * words.
 */
function matchClosely(from: Line, live: Line): Match[] {
  const matches = matchTokens(inlineTokensOf(from, typeOf), inlineTokensOf(live, typeOf))
  const [fromText, liveText] = [lineText(from), lineText(live)]
  let [a, b] = [0, 0]
  const close = [...matches, { a: from.length, b: live.length, length: 0 }].flatMap((match) => {
    const ends = commonEnds(fromText.slice(a, match.a), liveText.slice(b, match.b))
    const parts = [
      { a, b, length: ends.prefix },
      { a: match.a - ends.suffix, b: match.b - ends.suffix, length: ends.suffix },
      match,
    ]
    a = match.a + match.length
    b = match.b + match.length
    return parts
  })
  return close.filter((match) => match.length > 0)
}

function editsBetween(matches: readonly Match[], from: Line, to: Line): InlineEdit[] {
  const edits: InlineEdit[] = []
  let [start, toStart] = [0, 0]
  for (const match of [...matches, { a: from.length, b: to.length, length: 0 }]) {
    const changed = start < match.a || toStart < match.b
    if (changed) edits.push({ start, end: match.a, insert: sliceLine(to, toStart, match.b) })
    start = match.a + match.length
    toStart = match.b + match.length
  }
  return edits
}

/** The changes of marks within a kept stretch, one for each range in which the marks differ. */
function reformat(match: Match, from: Line, to: Line): InlineFormat[] {
  const olds = lineOf(sliceLine(from, match.a, match.a + match.length))
  const news = lineOf(sliceLine(to, match.b, match.b + match.length))
  const cuts = [...new Set([...olds.starts, ...news.starts, match.length])].sort((x, y) => x - y)
  const formats: InlineFormat[] = []
  let [old, next] = [-1, -1]
  cuts.slice(0, -1).forEach((start, index) => {
    if (olds.starts[old + 1] === start) old += 1
    if (news.starts[next + 1] === start) next += 1
    const set = formatChange(formatsOf(olds.nodes[old]?.marks), formatsOf(news.nodes[next]?.marks))
    if (set) formats.push({ start: match.a + start, end: match.a + (cuts[index + 1] ?? start), set })
  })
  return formats
}

function formatChange(before: Formats, after: Formats): Formats | null {
  const ended = Object.keys(before).filter((name) => !(name in after))
  const begun = Object.keys(after).filter((name) => !equalJson(before[name], after[name]))
  if (ended.length + begun.length === 0) return null
  return Object.fromEntries([...ended, ...begun].map((name) => [name, after[name] ?? null]))
}

function rebaseEdit(edit: InlineEdit, kept: readonly Match[]): InlineEdit[] {
  const removals = overlaps(edit, kept).map((range) => ({ ...range, insert: [] }))
  if (edit.insert.length === 0) return removals
  const offset = offsetAfter(edit.start, kept)
  return [{ start: offset, end: offset, insert: edit.insert }, ...removals]
}

/**
 * The offset in the live content right behind the last kept UTF-16 code unit that stands before an offset of `from`.
 */
function offsetAfter(offset: number, kept: readonly Match[]): number {
  const left = kept.findLast((match) => match.a < offset)
  return left ? left.b + Math.min(offset - left.a, left.length) : 0
}

function overlaps(range: { start: number; end: number }, kept: readonly Match[]): { start: number; end: number }[] {
  return kept.flatMap((match) => {
    const start = Math.max(range.start, match.a)
    const end = Math.min(range.end, match.a + match.length)
    return start < end ? [{ start: start - match.a + match.b, end: end - match.a + match.b }] : []
  })
}

/**
 * The lengths of the common beginning and end of two texts, in UTF-16 code units; neither ends within a surrogate pair.
 */
function commonEnds(a: string, b: string): { prefix: number; suffix: number } {
  const shorter = Math.min(a.length, b.length)
  let prefix = 0
  while (prefix < shorter && a[prefix] === b[prefix]) prefix += 1
  if (prefix > 0 && isHighSurrogate(a.charCodeAt(prefix - 1))) prefix -= 1
  let suffix = 0
  while (suffix < shorter - prefix && a.at(-1 - suffix) === b.at(-1 - suffix)) suffix += 1
  if (suffix > 0 && isLowSurrogate(a.charCodeAt(a.length - suffix))) suffix -= 1
  return { prefix, suffix }
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff
}

function isEnd(match: Match, from: Line, to: Line): boolean {
  const isFirst = match.a === 0 && match.b === 0
  return isFirst || (match.a + match.length === from.length && match.b + match.length === to.length)
}

function editKey({ start, end, insert }: InlineEdit): string {
  return JSON.stringify([start, end, insert.map((node) => [wholeKey(node), node.text])])
}

// A key of a node without null attributes. The stored form of a node contains some null attributes, and a Y document
// contains none.
function wholeKey(node: BodyNode): string {
  const marks = (node.marks ?? []).map(({ type, attrs }) => [type, attrs])
  return JSON.stringify([node.type, node.attrs, marks, node.content], (_, value: unknown) => value ?? undefined)
}

function typeOf(node: BodyNode): string {
  return node.type
}
