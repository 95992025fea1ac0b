import type { BodyNode } from '../document.ts'
import { wordsOf } from '../words.ts'
import { appendNode } from './encoding.ts'

/**
 * A block's inline content, called a line in this folder, that has the offset of every node. Offsets count UTF-16 code
 * units, as Yjs does. A node other than a text counts one.
 */
export type Line = { nodes: readonly BodyNode[]; starts: readonly number[]; length: number }

/** A word, a space or a node other than a text. A token is kept or replaced as a whole. */
export type InlineToken = { key: string; start: number; length: number }

/** Measures inline content. */
export function lineOf(nodes: readonly BodyNode[]): Line {
  const starts: number[] = []
  let length = 0
  for (const node of nodes) {
    starts.push(length)
    length += lengthOf(node)
  }
  return { nodes, starts, length }
}

/** The content between two offsets. */
export function sliceLine(line: Line, start: number, end: number): BodyNode[] {
  const part: BodyNode[] = []
  for (let index = nodeAt(line, start); index < line.nodes.length; index++) {
    const node = line.nodes[index]
    const offset = line.starts[index] ?? line.length
    if (!node || offset >= end) break
    if (offset + lengthOf(node) > start)
      appendNode(part, node.type === 'text' ? cut(node, start - offset, end - offset) : node)
  }
  return part
}

/**
 * The text of inline content, with U+FFFC for each node other than a text. The text has as many UTF-16 code units as
 * the content.
 */
export function lineText(line: Line): string {
  return line.nodes.map((node) => (node.type === 'text' ? (node.text ?? '') : '\ufffc')).join('')
}

/** The tokens of inline content. Marks have no influence. A node other than a text has the key that `keyOf` returns. */
export function inlineTokensOf(line: Line, keyOf: (node: BodyNode) => string): InlineToken[] {
  const tokens: InlineToken[] = []
  let text = ''
  let start = 0
  const flush = (next: number) => {
    for (const key of wordsOf(text)) {
      tokens.push({ key, start, length: key.length })
      start += key.length
    }
    text = ''
    start = next
  }
  line.nodes.forEach((node, index) => {
    const offset = line.starts[index] ?? 0
    if (node.type === 'text') text += node.text ?? ''
    else {
      flush(offset + 1)
      // A token of a text never equals this key: a token that starts with U+0000 has no second character.
      tokens.push({ key: `\u0000${keyOf(node)}`, start: offset, length: 1 })
    }
  })
  flush(line.length)
  return tokens
}

function lengthOf(node: BodyNode): number {
  return node.type === 'text' ? (node.text ?? '').length : 1
}

function cut(node: BodyNode, start: number, end: number): BodyNode {
  return { ...node, text: (node.text ?? '').slice(Math.max(start, 0), end) }
}

/** The index of the node that covers an offset. */
function nodeAt(line: Line, offset: number): number {
  let low = 0
  let high = line.starts.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((line.starts[middle] ?? 0) <= offset) low = middle + 1
    else high = middle
  }
  return Math.max(low - 1, 0)
}
