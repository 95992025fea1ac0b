import type { BodyNode } from '../document.ts'
import { type Match, matchSequences } from '../sequence.ts'
import { equalJson } from './align.ts'
import { type Formats, formatsOf } from './encoding.ts'
import { type InlineToken, inlineTokensOf, type Line, lineOf, lineText, sliceLine } from './line.ts'

/** Replaces the content between two offsets. */
export type InlineEdit = { start: number; end: number; insert: BodyNode[] }

/** Sets marks between two offsets, or ends them with null. */
export type InlineFormat = { start: number; end: number; set: Formats }

/** The changes of a line. All offsets refer to the line before any of the changes. */
export type InlineChange = { edits: InlineEdit[]; formats: InlineFormat[] }

// The most looks at nodes for the edits of one line, where each edit looks at all nodes of the line. A line that needs
// more is replaced between its common ends.
const mostLooks = 1_000_000

/**
 * The change that turns one line into another. Words are replaced as a whole. Common words are kept, at most with other
 * marks.
 */
export function diffInline(fromNodes: readonly BodyNode[], toNodes: readonly BodyNode[]): InlineChange {
  const [from, to] = [lineOf(fromNodes), lineOf(toNodes)]
  const found = matchTokens(inlineTokensOf(from, wholeKey), inlineTokensOf(to, wholeKey))
  const matches = found.length * from.nodes.length > mostLooks ? found.filter((match) => isEnd(match, from, to)) : found
  return { edits: editsBetween(matches, from, to), formats: matches.flatMap((match) => reformat(match, from, to)) }
}

/**
 * Adapts the change `from` → `to` to a line that has become `live` meanwhile. Edits that the live line already has are
 * left out. New text stays beside its left neighbour, and removed text does not come back.
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

function matchTokens(a: readonly InlineToken[], b: readonly InlineToken[]): Match[] {
  const keysOf = (tokens: readonly InlineToken[]) => tokens.map((token) => token.key)
  return matchSequences(keysOf(a), keysOf(b)).map((match) => {
    const [first, last] = [a[match.a], a[match.a + match.length - 1]]
    const start = first?.start ?? 0
    return { a: start, b: b[match.b]?.start ?? 0, length: last ? last.start + last.length - start : 0 }
  })
}

/**
 * The stretches that `live` kept. Nodes are compared by type only, since an editor writes default attributes out. In
 * words that differ, the common beginning and end count as kept, since people type into words.
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

/** The parts of a kept stretch whose marks differ. */
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

/** The offset in the live line right behind the last kept UTF-16 unit that stands before an offset of `from`. */
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

/** The lengths of the common beginning and end of two texts, in UTF-16 units, never with half of a surrogate pair. */
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

// A key of a node without null attributes. The normal form writes some null attributes out, and a Y document has none.
function wholeKey(node: BodyNode): string {
  const marks = (node.marks ?? []).map(({ type, attrs }) => [type, attrs])
  return JSON.stringify([node.type, node.attrs, marks, node.content], (_, value: unknown) => value ?? undefined)
}

function typeOf(node: BodyNode): string {
  return node.type
}
