import type { Nodes, Parents, Text } from 'mdast'
import { isWordCharacter } from './grammar.ts'

// The offsets in UTF-16 code units of the signs in a text that would begin math or a highlight.
const escapes = new WeakMap<Text, number[]>()

/**
 * A record of the signs that follow an offset on its line or in its block. A dollar may end math, and `==` may end a
 * highlight.
 */
type Ahead = { dollar: boolean; equals: boolean }

/**
 * Finds the dollars and the `==` in texts that would be read as the beginning of math or of a highlight; `withEscapes`
 * escapes them. A sign stays as it is where no sign behind it could end the math or the highlight. In doubt the sign is
 * escaped, and several dollars in a row always are. The time is linear in the text.
 */
export function markLiteralSigns(nodes: readonly Nodes[]): void {
  for (const node of nodes) {
    if (node.type === 'paragraph' || node.type === 'heading' || node.type === 'tableCell') {
      markPhrasing(node, { ahead: { dollar: false, equals: false }, breaksLines: node.type === 'paragraph' })
    } else if ('children' in node) markLiteralSigns(node.children)
  }
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

/** A neighbourhood of a text: the characters beside the text, and the nodes that have these characters. */
type Beside = { before: string; after: string; beforeNode?: Nodes | undefined; afterNode?: Nodes | undefined }

type Reading = { ahead: Ahead; breaksLines: boolean }

// The nodes are read from the end, so that the signs ahead are known.
function markPhrasing(parent: Parents, reading: Reading): void {
  const { ahead } = reading
  for (const node of [...parent.children].reverse()) {
    if (node.type === 'text') markText(node, reading)
    else if (node.type === 'break') ahead.dollar = false
    // A dollar in the address or the code of any node can end math that begins before the node.
    else if (hasDollar(node)) ahead.dollar = true
    if ('children' in node) markPhrasing(node, reading)
  }
}

function hasDollar(node: Nodes): boolean {
  const { children: _, ...own } = node as Nodes & { children?: unknown }
  return Object.values(own).some((value) => typeof value === 'string' && value.includes('$'))
}

function markText(node: Text, { ahead, breaksLines }: Reading): void {
  const { value } = node
  const found: number[] = []
  for (const { 0: run, index } of [...value.matchAll(/\$+|=+|\n/g)].reverse()) {
    const sign = { run, index, value, breaksLines }
    if (run === '\n') {
      if (isLineBreak(sign)) ahead.dollar = false
    } else if (run.startsWith('$')) {
      if (run !== '$') found.push(...Array.from(run, (_, at) => index + at).reverse())
      else if (ahead.dollar && mayOpenMath(sign)) found.push(index)
      if (mayCloseMath(sign)) ahead.dollar = true
    } else {
      if (ahead.equals && mayOpenHighlight(sign)) found.push(index)
      if (mayCloseHighlight(sign)) ahead.equals = true
    }
  }
  if (found.length > 0) escapes.set(node, found.reverse())
}

type Sign = { run: string; index: number; value: string; breaksLines: boolean }

function mayOpenMath(sign: Sign): boolean {
  return !isSpaced(sign, 1)
}

function mayCloseMath(sign: Sign): boolean {
  return sign.run === '$' && !/\d/.test(sign.value[sign.index + 1] ?? '') && !isSpaced(sign, -1)
}

// True if white space beside the sign, in the direction of `step`, is certainly written as it is. White space beside
// more white space, at an edge of the text or at a line end may become a character reference.
function isSpaced({ index, value, breaksLines }: Sign, step: 1 | -1): boolean {
  const [space = '', beyond = ' '] = [value[index + step], value[index + 2 * step]]
  return (breaksLines ? /[^\S\r]/ : /[^\S\r\n]/).test(space) && /\S/.test(beyond)
}

function isLineBreak({ index, value, breaksLines }: Sign): boolean {
  return breaksLines && /\S/.test(value[index - 1] ?? ' ') && /\S/.test(value[index + 1] ?? ' ')
}

function mayOpenHighlight(sign: Sign): boolean {
  return touchesEdge(sign) || (sign.run === '==' && isWordCharacter(sign.value.charCodeAt(sign.index + 2)))
}

function mayCloseHighlight(sign: Sign): boolean {
  return touchesEdge(sign) || (sign.run === '==' && isWordCharacter(sign.value.charCodeAt(sign.index - 1)))
}

// True for equal signs in a row, such as `===`, at the start or the end of their text. The neighbouring text may begin
// or end with more of them. So the signs may both open and close a highlight.
function touchesEdge({ run, index, value }: Sign): boolean {
  return index === 0 || index + run.length === value.length
}
