import type { Static } from 'typebox'
import type { BodyNode, Mark } from '../body/document.ts'
import { sameMarks } from '../body/marks.ts'
import { type Match, matchSequences } from '../body/sequence.ts'
import { plainText } from '../body/text.ts'
import { wordsOf } from '../body/words.ts'
import type { InlineHunk } from './schema.ts'

type Hunk = Static<typeof InlineHunk>

/**
 * The difference of two inline contents, word by word. The hunks that are equal or deleted, in their order, are the
 * content before. The hunks that are equal or inserted are the content after. A word whose marks have changed is
 * deleted and inserted.
 *
 * The hunks take at most a few times the length of the two contents as JSON. Where they would take more, such as for
 * thousands of changed words within a long link, everything between the common start and the common end is replaced.
 */
export function inlineHunks(before: readonly BodyNode[], after: readonly BodyNode[]): Hunk[] {
  const numbers = new Map<string, number>()
  const [from, to] = [tokensOf(before, numbers), tokensOf(after, numbers)]
  const matches = matchSequences(
    from.map(({ key }) => key),
    to.map(({ key }) => key),
  )
  const hunks = hunksOf(matches, from, to)
  const longest = 4 * (JSON.stringify(before).length + JSON.stringify(after).length) + shortLength
  if (lengthOf(hunks) <= longest) return hunks
  return hunksOf(
    matches.filter((match) => isEnd(match, from, to)),
    from,
    to,
  )
}

// The number of characters of JSON within which hunks are never made coarser.
const shortLength = 8192

/** A part of a token within one inline node: a text with its marks, or a whole node of another type. */
type Piece = { node: BodyNode; text: string }

/** A word, a stretch of white space, a grapheme, or a node other than a text. Equal tokens have equal keys. */
type Token = { key: string; pieces: Piece[] }

// The key of a token names the marks of a text by a number. A key with the marks themselves could be far longer than
// the text, and a node has as many keys as words.
function tokensOf(nodes: readonly BodyNode[], numbers: Map<string, number>): Token[] {
  const tokens: Token[] = []
  let texts: BodyNode[] = []
  const flush = () => {
    tokens.push(...wordTokens(texts, numbers))
    texts = []
  }
  for (const node of nodes) {
    if (node.type === 'text') texts.push(node)
    else {
      flush()
      tokens.push({ key: `node ${numberOf(node, numbers)}`, pieces: [{ node, text: plainText(node) }] })
    }
  }
  flush()
  return tokens
}

/** The words of neighbouring texts. A word that begins in one text and ends in another has a piece of each. */
function* wordTokens(texts: readonly BodyNode[], numbers: Map<string, number>): Generator<Token> {
  const marks = texts.map((node) => numberOf(node.marks ?? [], numbers))
  let [index, offset] = [0, 0]
  for (const word of wordsOf(texts.map(({ text }) => text).join(''))) {
    const token: Token = { key: '', pieces: [] }
    for (let taken = 0; taken < word.length; ) {
      const node = texts[index] as BodyNode
      const text = (node.text ?? '').slice(offset, offset + word.length - taken)
      token.pieces.push({ node, text })
      // No text of a body contains U+0000, so different pieces never have equal keys.
      token.key += `${marks[index]}\u0000${text}\u0000`
      taken += text.length
      offset += text.length
      if (offset >= (node.text ?? '').length) [index, offset] = [index + 1, 0]
    }
    yield token
  }
}

function numberOf(value: BodyNode | Mark[], numbers: Map<string, number>): number {
  const text = JSON.stringify(value)
  const number = numbers.get(text) ?? numbers.size
  numbers.set(text, number)
  return number
}

function hunksOf(matches: readonly Match[], from: readonly Token[], to: readonly Token[]): Hunk[] {
  const hunks: Hunk[] = []
  let [a, b] = [0, 0]
  for (const match of [...matches, { a: from.length, b: to.length, length: 0 }]) {
    append(hunks, 'delete', from.slice(a, match.a))
    append(hunks, 'insert', to.slice(b, match.b))
    append(hunks, 'equal', from.slice(match.a, match.a + match.length))
    a = match.a + match.length
    b = match.b + match.length
  }
  return hunks
}

function append(hunks: Hunk[], op: Hunk['op'], tokens: readonly Token[]): void {
  for (const { pieces } of tokens) {
    for (const { node, text } of pieces) {
      const last = hunks.at(-1)
      const isText = node.type === 'text'
      if (isText && last?.op === op && last.node === undefined && sameMarks(last.marks, node.marks)) last.text += text
      else if (isText) hunks.push({ op, text, ...(node.marks !== undefined && { marks: node.marks }) })
      else hunks.push({ op, text, node })
    }
  }
}

/** The number of characters that hunks take as JSON. The marks of a node are measured once. */
function lengthOf(hunks: readonly Hunk[]): number {
  const known = new Map<unknown, number>()
  const measured = (value: unknown) => {
    const length = known.get(value) ?? JSON.stringify(value ?? '').length
    known.set(value, length)
    return length
  }
  return hunks.reduce((sum, { text, marks, node }) => sum + braces + text.length + measured(marks) + measured(node), 0)
}

// The characters of a hunk as JSON besides its text, marks and node.
const braces = 40

function isEnd({ a, b, length }: Match, from: readonly Token[], to: readonly Token[]): boolean {
  return (a === 0 && b === 0) || (a + length === from.length && b + length === to.length)
}
