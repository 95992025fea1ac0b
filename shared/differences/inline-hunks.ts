import type { Static } from 'typebox'
import type { BodyNode, Mark } from '../body/document.ts'
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
  const numbering = new Numbering()
  const [from, to] = [tokensOf(before, numbering), tokensOf(after, numbering)]
  const matches = matchSequences(from.keys, to.keys)
  const hunks = hunksOf(matches, from, to)
  const length = lengthOf(hunks)
  if (length <= shortLength || length <= 4 * JSON.stringify([before, after]).length) return hunks
  const ends = matches.filter((match) => isEnd(match, from, to))
  return hunksOf(ends, from, to)
}

// The number of characters of JSON within which hunks are never made coarser.
const shortLength = 8192

/**
 * Inline content as words, stretches of white space, graphemes, and nodes other than a text. Equal tokens have equal
 * keys. `ends` are the offsets at which the tokens end, in UTF-16 code units. A node other than a text has length 1.
 */
type Tokens = { nodes: readonly BodyNode[]; keys: string[]; ends: number[] }

// A node other than a text counts as one character.
const objectReplacement = '\ufffc'
// No text of a body contains U+0000, so no text has the key of a node or of a text with marks.
const separator = '\u0000'

function tokensOf(nodes: readonly BodyNode[], numbering: Numbering): Tokens {
  const tokens: Tokens = { nodes, keys: [], ends: [] }
  const reader = new ContentReader(nodes)
  let start = 0
  for (const run of runsOf(nodes)) {
    const words = run[0]?.type === 'text' ? wordsOf(run.map(({ text }) => text).join('')) : [objectReplacement]
    for (const word of words) {
      start += word.length
      tokens.keys.push(keyOf(reader.readTo(start), numbering))
      tokens.ends.push(start)
    }
  }
  return tokens
}

/** Puts neighbouring texts together, because a word may begin in one text and end in another. */
function runsOf(nodes: readonly BodyNode[]): BodyNode[][] {
  const runs: BodyNode[][] = []
  for (const node of nodes) {
    const last = runs.at(-1)
    if (node.type === 'text' && last?.[0]?.type === 'text') last.push(node)
    else runs.push([node])
  }
  return runs
}

// The key names marks and nodes by a number. A key that contained them could be far longer than its word, and a text
// has as many keys as words.
function keyOf(pieces: readonly Piece[], numbering: Numbering): string {
  const [{ node, text }, ...others] = pieces as [Piece]
  if (others.length === 0 && node.type === 'text' && node.marks === undefined) return text
  if (node.type !== 'text') return `${separator}${numbering.numberOf(node)}`
  return pieces
    .map(({ node, text }) => `${numbering.numberOf(node.marks ?? noMarks)}${separator}${text}${separator}`)
    .join('')
}

/** Gives equal values equal numbers. Each object is written as JSON only once, however many words it belongs to. */
class Numbering {
  readonly #ofTexts = new Map<string, number>()
  readonly #ofObjects = new Map<object, number>()

  numberOf(value: object): number {
    const known = this.#ofObjects.get(value)
    if (known !== undefined) return known
    const text = JSON.stringify(value)
    const number = this.#ofTexts.get(text) ?? this.#ofTexts.size
    this.#ofTexts.set(text, number)
    this.#ofObjects.set(value, number)
    return number
  }
}

const noMarks: Mark[] = []

/** A stretch of one inline node: a part of a text, or a whole node of another type with its plain text. */
type Piece = { node: BodyNode; text: string }

/** Reads inline content from its beginning, stretch by stretch. */
class ContentReader {
  readonly #nodes: readonly BodyNode[]
  #index = 0
  /** The offset within the current node, and the offset within the content. */
  #within = 0
  #offset = 0

  constructor(nodes: readonly BodyNode[]) {
    this.#nodes = nodes
  }

  /** Reads what stands before an offset and was not read before. */
  readTo(end: number): Piece[] {
    const pieces: Piece[] = []
    while (this.#offset < end) {
      const node = this.#nodes[this.#index] as BodyNode
      const whole = node.type === 'text' ? (node.text ?? '') : null
      const length = whole?.length ?? 1
      const taken = Math.min(length - this.#within, end - this.#offset)
      const text = whole === null ? plainText(node) : whole.slice(this.#within, this.#within + taken)
      pieces.push({ node, text })
      this.#offset += taken
      this.#within += taken
      if (this.#within === length) [this.#index, this.#within] = [this.#index + 1, 0]
    }
    return pieces
  }
}

function hunksOf(matches: readonly Match[], from: Tokens, to: Tokens): Hunk[] {
  const hunks: Hunk[] = []
  const [old, current] = [new ContentReader(from.nodes), new ContentReader(to.nodes)]
  for (const { a, b, length } of [...matches, { a: from.keys.length, b: to.keys.length, length: 0 }]) {
    for (const piece of old.readTo(endOf(from, a))) hunks.push(hunkOf('delete', piece))
    for (const piece of current.readTo(endOf(to, b))) hunks.push(hunkOf('insert', piece))
    for (const piece of old.readTo(endOf(from, a + length))) hunks.push(hunkOf('equal', piece))
    current.readTo(endOf(to, b + length))
  }
  return hunks
}

/** The offset at which the first `count` tokens end. */
function endOf({ ends }: Tokens, count: number): number {
  return count === 0 ? 0 : (ends[count - 1] ?? 0)
}

function hunkOf(op: Hunk['op'], { node, text }: Piece): Hunk {
  if (node.type !== 'text') return { op, text, node }
  return node.marks === undefined ? { op, text } : { op, text, marks: node.marks }
}

/** The number of characters that hunks take as JSON. Each list of marks and each node is measured once. */
function lengthOf(hunks: readonly Hunk[]): number {
  const known = new Map<unknown, number>()
  const measured = (value: unknown) => {
    if (value === undefined) return 0
    const length = known.get(value) ?? JSON.stringify(value).length
    known.set(value, length)
    return length
  }
  return hunks.reduce((sum, { text, marks, node }) => sum + braces + text.length + measured(marks) + measured(node), 0)
}

// The characters of a hunk as JSON besides its text, marks and node.
const braces = 40

function isEnd({ a, b, length }: Match, from: Tokens, to: Tokens): boolean {
  return (a === 0 && b === 0) || (a + length === from.keys.length && b + length === to.keys.length)
}
