import type { Nodes, Parents, Text } from 'mdast'
import { isBesideAnyLetter, isWordCharacter, mayCloseMath, mayOpenMath } from './grammar.ts'

// The offsets in UTF-16 code units of the signs in a text that would be read as markup.
const escapes = new WeakMap<Text, number[]>()

/**
 * Finds the signs in texts that would be read as markup; `withEscapes` escapes them. A sign stays as it is where
 * nothing around it makes it markup, such as an asterisk without a partner or a bracket without an address. In doubt
 * the sign is escaped. `labels` are the labels of the document's footnotes. The time is linear in the text.
 */
export function markLiteralSigns(nodes: readonly Nodes[], labels: Labels): void {
  for (const node of nodes) markFlow(node, 'line', labels)
}

/**
 * Returns the text of a node as Markdown in which the signs found by `markLiteralSigns` are escaped. `safe` escapes
 * everything else: it is called with each stretch between two of these signs, and with the characters on both sides of
 * the stretch.
 */
export function withEscapes<T extends Beside>(
  node: Text,
  around: T,
  safe: (text: string, around: T) => string,
): string {
  const { value } = node
  let written = ''
  let from = 0
  for (const at of [...(escapes.get(node) ?? []), value.length]) {
    const before = from === 0 ? {} : { before: value[from - 1], beforeNode: undefined }
    const after = at === value.length ? {} : { after: value[at], afterNode: undefined }
    if (at > from || from === 0) written += safe(value.slice(from, at), { ...around, ...before, ...after })
    if (at < value.length) written += `\\${value[at]}`
    from = at + 1
  }
  return written
}

/** The labels of all footnotes of a document, in lower case; null when they are unknown. */
export type Labels = ReadonlySet<string> | null

/** A neighbourhood of a text: the characters beside the text, and the nodes that have these characters. */
type Beside = { before: string; after: string; beforeNode?: Nodes | undefined; afterNode?: Nodes | undefined }

// A place of a paragraph. Its first line begins a line of Markdown (`line`), also as the first paragraph of an item
// with a bullet (`item`) or of a quote (`quote`), but not behind the box of a task or in a heading or cell (`inside`).
type Place = 'line' | 'item' | 'quote' | 'inside'

function markFlow(node: Nodes, place: Place, labels: Labels): void {
  if (node.type === 'paragraph') markPhrasing(node, place, labels)
  else if (node.type === 'heading' || node.type === 'tableCell') markPhrasing(node, 'inside', labels)
  else if (node.type === 'list') {
    for (const item of node.children) {
      const own = item.checked != null ? 'inside' : node.ordered ? 'line' : 'item'
      for (const [index, child] of item.children.entries()) markFlow(child, index === 0 ? own : 'line', labels)
    }
  } else if ('children' in node) {
    const isQuote = node.type === 'blockquote'
    for (const [index, child] of node.children.entries())
      markFlow(child, isQuote && index === 0 ? 'quote' : 'line', labels)
  }
}

// Stands for a character that is not known: one that may be written as a character reference, and the delimiter of a
// mark, which the writer chooses. A sign beside it may be markup.
const unknown = '\ufffc'

/**
 * The inline content of a block, about as it is written, but without escapes. `kinds` has a letter for each character:
 * `t` for text, `l` for the text of a link or an image, `[` and `]` for the brackets of these, `v` for anything else.
 */
type Line = {
  text: string
  kinds: string
  texts: { node: Text; from: number }[]
  hasMarks: boolean
  found: Set<number>
}

function markPhrasing(parent: Parents, place: Place, labels: Labels): void {
  const line: Line = { text: '', kinds: '', texts: [], hasMarks: false, found: new Set() }
  flatten(parent, line, 't')
  if (!/[!-/:-@[-`{-~]/.test(line.text)) return
  markLineStarts(line, place)
  markAddresses(line)
  line.text = withUnknown(line.text, parent.type === 'paragraph')
  markDelimiters(line)
  markBrackets(line, labels)
  markCode(line)
  markMath(line)
  markHighlights(line)
  markTags(line)
  if (line.found.size === 0) return
  const found = [...line.found].sort((a, b) => a - b)
  let next = 0
  for (const { node, from } of line.texts) {
    const own: number[] = []
    for (; (found[next] ?? Infinity) < from + node.value.length; next += 1) own.push((found[next] as number) - from)
    if (own.length > 0) escapes.set(node, own)
  }
}

// Adds the signs of a run, unless they are no text.
function add({ kinds, found }: Line, from: number, length = 1): void {
  for (let at = from; at < from + length; at += 1) if (kinds[at] === 't' || kinds[at] === 'l') found.add(at)
}

function flatten(parent: Parents, line: Line, kind: 't' | 'l'): void {
  const add = (text: string, as: string) => {
    line.text += text
    line.kinds += as.repeat(text.length)
  }
  for (const node of parent.children) {
    if (node.type === 'text') {
      line.texts.push({ node, from: line.text.length })
      add(node.value, kind)
    } else if (node.type === 'emphasis' || node.type === 'strong' || node.type === 'delete') {
      line.hasMarks = true
      add(unknown, 'v')
      flatten(node, line, kind)
      add(unknown, 'v')
    } else if ((node.type === 'link' || node.type === 'image') && !isAutolink(node)) {
      // An exclamation mark before a link would make it an image.
      if (node.type === 'image') add('!', 'v')
      else if (line.text.endsWith('!')) line.found.add(line.text.length - 1)
      add('[', '[')
      flatten(node as Nodes as Parents, line, 'l')
      add(']', ']')
      add(`(${node.url} "${node.title ?? ''}")`, 'v')
    } else if (node.type === 'break') add('\\\n', 'v')
    else if ('value' in node)
      add(node.type === 'html' ? node.value : `${fences[node.type]}${node.value}${fences[node.type]}`, 'v')
    else if ('label' in node) add(`[^${node.label}]`, 'v')
    else if ('url' in node) add(`<${node.url}>`, 'v')
  }
}

// The writer encodes white space beside white space or an edge, and characters beside the delimiter of a mark.
function withUnknown(text: string, hasLines: boolean): string {
  const hidden = (characters: string) => unknown.repeat(characters.length)
  return text
    .replace(/(?<=\ufffc)[^\p{P}\p{S}]|[^\p{P}\p{S}](?=\ufffc)/gu, hidden)
    .replace(hasLines ? /(?<=^|\s)\s|\s(?=\s|$)|\r/g : /(?<=^|\s)\s|\s(?=\s|$)|[\r\n]/g, hidden)
}

// What makes a block at the start of a line, or continues one: headings, items, quotes, rules, fences, raw HTML and
// footnotes, and below a first line the underline of a heading or the delimiter row of a table.
const lineStart = new RegExp(
  `(?<=\n)(?:${[
    '#(?=#{0,5}(?:[\\s]|$))',
    '(?:\\d{1,9}[.)]|[+*-])(?=[\\s]|$)',
    '>',
    '([*_-])(?:[ \\t]*\\1){2,}[ \\t]*(?=\n|$)',
    '(?<=[^]\n)[=|:-][=|:\\t -]*(?=\n|$)',
    '`{3,}(?=[^`\n]*(?:\n|$))|~{3,}',
    '\\$\\$+(?=[^$\n]*(?:\n|$))',
    '<(?=[A-Za-z/!?])',
    '\\[(?=\\^[^\\]\\s]+\\]:)',
  ].join('|')})`,
  'g',
)
// What is read at the start of a block alone: a definition, the box of a task and the marker of a callout.
const blockStart = {
  line: /^\[[^\]]*\]:/,
  item: /^\[(?:[^\]]*\]:|[\sxX]\](?:[\s]|$))/,
  quote: /^\[(?:[^\]]*\]:|!(?:note|tip|important|warning|caution)\][ \t]*(?:\n|$))/i,
}

function markLineStarts(line: Line, place: Place): void {
  const isInside = place === 'inside'
  if (!isInside && blockStart[place].test(line.text)) add(line, 0)
  const text = isInside ? line.text : `\n${line.text}`
  for (const { 0: run, index } of text.matchAll(lineStart)) {
    const from = isInside ? index : index - 1
    if (/^\d/.test(run)) add(line, from + run.length - 1)
    else if (/^[*_`~$]/.test(run)) for (const sign of run.matchAll(/\S/g)) add(line, from + sign.index)
    else add(line, from)
  }
}

type Delimiter = { run: string; index: number; opens: boolean; closes: boolean }

// An asterisk, an underscore or a tilde begins or ends a mark only with a partner.
function markDelimiters(line: Line): void {
  const delimiters: Delimiter[] = []
  const firstOpening = new Map<string, number>()
  const lastClosing = new Map<string, number>()
  for (const { 0: run, index } of line.text.matchAll(/\*+|_+|~+/g)) {
    if (line.kinds[index] === 'v') continue
    const delimiter = { run, index, ...flanking(run, line.text[index - 1], line.text[index + run.length]) }
    const sign = run.slice(0, 1)
    if (delimiter.opens && !firstOpening.has(sign)) firstOpening.set(sign, index)
    if (delimiter.closes) lastClosing.set(sign, index)
    delimiters.push(delimiter)
  }
  for (const { run, index, opens, closes } of delimiters) {
    const sign = run.slice(0, 1)
    const isOpening = opens && (line.hasMarks || (lastClosing.get(sign) ?? -1) > index)
    const isClosing = closes && (line.hasMarks || (firstOpening.get(sign) ?? index) < index)
    if (isOpening || isClosing) add(line, index, run.length)
  }
}

// CommonMark's rules for what may open and close emphasis.
function flanking(run: string, before = ' ', after = ' '): { opens: boolean; closes: boolean } {
  if (before === unknown || after === unknown) return { opens: true, closes: true }
  const [isWordBefore, isWordAfter] = [isWordCharacter(before.charCodeAt(0)), isWordCharacter(after.charCodeAt(0))]
  const isFree = isBesideAnyLetter(before.charCodeAt(0)) || isBesideAnyLetter(after.charCodeAt(0))
  const left = !/\s/.test(after) && (isWordAfter || !isWordBefore || isFree || /[*_~]/.test(after))
  const right = !/\s/.test(before) && (isWordBefore || !isWordAfter || isFree || /[*_~]/.test(before))
  if (!run.startsWith('_')) return { opens: left, closes: right }
  return { opens: left && (!isWordBefore || !right), closes: right && (!isWordAfter || !left) }
}

// The most characters that the parser reads as a label, and its sign.
const longestLabel = 1001

// A bracket begins a link only before an address, and a reference only to a footnote of the document. In the text of a
// link, a bracket without a partner would end the text or begin another one.
function markBrackets(line: Line, labels: Labels): void {
  const { text, kinds } = line
  const open: number[] = []
  const lastParenthesis = text.lastIndexOf(')')
  for (const { 0: sign, index } of text.matchAll(/[[\]]/g)) {
    if (kinds[index] === 'v') continue
    if (sign === '[') open.push(index)
    else if (kinds[index] === ']') {
      for (let at = open.pop(); at !== undefined && kinds[at] !== '['; at = open.pop()) add(line, at)
    } else {
      const at = open.at(-1)
      if (at === undefined) continue
      if (kinds[at] === '[') add(line, index)
      else {
        open.pop()
        const isLink = text[index + 1] === '(' && lastParenthesis > index
        const isLabel = text[at + 1] === '^' && index - at <= longestLabel
        const isFootnote = isLabel && labels?.has(text.slice(at + 2, index).toLowerCase()) !== false
        if (!isLink && !isFootnote) continue
        add(line, at)
        // Another bracket before it would take its place.
        if (kinds[at] === 'l' || open.length > 0) add(line, index)
      }
    }
  }
}

// A run of backticks begins code only if as many follow.
function markCode(line: Line): void {
  const ahead = new Set<number | 'verbatim'>()
  for (const { 0: run, index } of [...line.text.matchAll(/`+/g)].reverse()) {
    const kind = kindOf(line, index, run)
    if (kind === 'mixed' || (kind === 'text' && (ahead.has(run.length) || ahead.has('verbatim')))) {
      add(line, index, run.length)
    }
    ahead.add(kind === 'text' ? run.length : 'verbatim')
  }
}

// A dollar begins math only if another one on its line may end it, and several dollars only if several follow.
function markMath(line: Line): void {
  const { text } = line
  const ahead = { one: false, several: false }
  for (const { 0: run, index } of [...text.matchAll(/\$+|\n/g)].reverse()) {
    const kind = kindOf(line, index, run)
    // A line end beside raw HTML may be written as a character reference.
    if (run === '\n') ahead.one &&= text[index + 1] === '<' || text[index - 1] === '>'
    else if (run.length > 1) {
      if (kind === 'mixed' || ahead.several) add(line, index, run.length)
      ahead.several = true
    } else {
      const [before, after] = [text.slice(Math.max(index - 2, 0), index), text[index + 1] ?? '']
      if (kind === 'text' && ahead.one && mayOpenMath(before.slice(-1), after)) add(line, index)
      if (mayCloseMath(before, after)) ahead.one = true
    }
  }
}

function markHighlights(line: Line): void {
  const { text } = line
  const touches = (at: number) => text[at] === unknown || isWordCharacter(text.charCodeAt(at))
  let isAhead = false
  for (const { 0: run, index } of [...text.matchAll(/=+/g)].reverse()) {
    if (run !== '==' || kindOf(line, index, run) === 'verbatim') continue
    if (isAhead && touches(index + 2)) add(line, index)
    if (touches(index - 1)) isAhead = true
  }
}

// Raw tags, addresses in angle brackets, and character references.
function markTags(line: Line): void {
  const last = line.text.lastIndexOf('>')
  for (const { index } of line.text.matchAll(/<(?=[A-Za-z/!?]|[^\s<>@]+@)/g)) if (index < last) add(line, index)
  const reference = /&(?=(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z][\dA-Za-z]{1,30});)/g
  for (const { index } of line.text.matchAll(reference)) add(line, index)
}

// Bare addresses, which GFM makes links; not within a link. The dot, colon or at sign is escaped.
function markAddresses(line: Line): void {
  const bare =
    /(?<![^\s(*_[\]~\ufffc])www\.|(?<![A-Za-z])https?:(?=\/\/[^\s\p{P}\p{S}])|[\w+.-]@(?=[\w-]*\.[\dA-Za-z])/giu
  for (const { 0: run, index } of line.text.matchAll(bare)) {
    const at = index + run.length - 1
    if (line.kinds[at] === 't') add(line, at)
  }
}

function kindOf({ kinds }: Line, index: number, run: string): 'text' | 'verbatim' | 'mixed' {
  const own = kinds.slice(index, index + run.length)
  return !/[^tl]/.test(own) ? 'text' : /[tl]/.test(own) ? 'mixed' : 'verbatim'
}

// An address that the writer puts in angle brackets; any other link has an empty text before its content.
function isAutolink(node: Nodes): boolean {
  return node.type === 'link' && node.children.length === 1
}

const fences: { [type: string]: string } = { inlineCode: '`', inlineMath: '$$' }
