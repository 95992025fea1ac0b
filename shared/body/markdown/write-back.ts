import { Refusal } from '../../errors/errors.ts'
import { maximumNodes } from '../body-limits.ts'
import { type Assembled, type Assembling, anchorsOf, assemble, type KeptPiece } from './from-markdown.ts'
import { type ImportContext, importContext } from './import-context.ts'
import { closesDetails } from './import-details.ts'
import { type Anchor, anchorOf, checkedPieces, markdownSource, type Piece, parseWithin, readPieces } from './parse.ts'
import { recogniseBlocks, type Stretch, sumOf } from './recognised-blocks.ts'

/**
 * Makes the blocks of an anchored Markdown text in a time that grows with the changes only. Stored blocks are
 * recognised by their text, and only the stretches between them are parsed. Returns null when the text must be parsed
 * as a whole. Such a text is mostly new, or has a stretch that is refused or has an effect outside of itself.
 */
export function writeBack(markdown: string, assembling: Assembling): Assembled | null {
  const { characterLimit = Number.POSITIVE_INFINITY, byteLimit = Number.POSITIVE_INFINITY, stored } = assembling
  const source = markdownSource({ markdown, ...assembling })
  const stretches = recogniseBlocks(source, stored)
  const kept = sumOf(stretches.map((stretch) => stretch.kept))
  const newLength = stretches.reduce((sum, { from, to }) => sum + to - from, 0)
  if (newLength > source.length / 2 || kept.nodes === 0) return null
  // The parsed stretches may only take what the recognised blocks leave of each limit.
  const left = { characterLimit: characterLimit - kept.characters, byteLimit: byteLimit - kept.bytes }
  const context = { ...assembling, ...left }
  try {
    const read = readStretches({ source, stretches, context })
    if (read === null || anchorsOf(read.pieces).some(({ id }) => stored.isNested(id))) return null
    const assembled = assemble(read, context)
    const nodes = assembled.nodes + kept.nodes
    return nodes > maximumNodes ? null : { ...assembled, nodes, characters: assembled.characters + kept.characters }
  } catch (error) {
    // The caller then parses the whole text, which is refused for the same reason or for an earlier reason.
    if (error instanceof Refusal) return null
    throw error
  }
}

type Texts = { source: string; stretches: readonly Stretch[]; context: Assembling }
type Pieces = { pieces: (Piece | KeptPiece)[]; warnings: ImportContext['warnings'] }

function readStretches({ source, stretches, context }: Texts): Pieces | null {
  const { path = '', byteLimit } = context
  const pieces: (Piece | KeptPiece)[] = []
  const shared: Shared = {
    warnings: [],
    spent: { bytes: 0, limit: byteLimit },
    pending: [],
    hasDefinitions: source.includes(']:'),
  }
  const lines = new LineCounter(source)
  for (const { from, to, next, recognised } of stretches) {
    const text = { source: source.slice(from, next), length: to - from, linesAbove: lines.above(from), path }
    const read = from === to ? [] : readStretch(text, shared)
    if (read === null) return null
    pieces.push(...read)
    for (const { id, at, line } of recognised) {
      shared.pending.push({ id, line: lines.above(at) + 1 })
      if (line !== null) pieces.push(keptPiece(line, shared.pending.splice(0)))
    }
  }
  return { pieces: checkedPieces(pieces, shared.pending), warnings: shared.warnings }
}

function keptPiece(line: string, anchors: Anchor[]): KeptPiece {
  return { anchor: anchors.at(-1) as Anchor, unused: anchors.slice(0, -1), line }
}

// A state that the reading of all stretches shares. `pending` are the anchors directly above the next block. Without
// `hasDefinitions` the text defines no footnotes, so nothing in it refers to one.
type Shared = Pick<ImportContext, 'warnings' | 'spent'> & { pending: Anchor[]; hasDefinitions: boolean }
type StretchText = { source: string; length: number; linesAbove: number; path: string }

/**
 * The pieces of one stretch. `source` goes on behind the stretch with the anchor of the next recognised block. If the
 * parser recognises this anchor, the stretch leaves no construct open. Returns null for a stretch with an effect
 * outside of itself. Such effects have definitions, footnotes, details that reach over its end, and constructs that
 * swallow the next anchor.
 */
function readStretch({ source, length, linesAbove, path }: StretchText, shared: Shared): Piece[] | null {
  if (shared.hasDefinitions && footnote.test(source)) return null
  const root = parseWithin(source, path)
  const isFollowed = source.length > length
  const last = root.children.at(-1)
  const isClosed = last?.position?.start.offset === length && anchorOf(last, { linesAbove }) !== null
  if (isFollowed && !isClosed) return null
  // The parser of the whole text would look for the end of frontmatter behind the stretch, too. So frontmatter must end
  // within the stretch.
  if (/^\ufeff?---/.test(source) && root.children[0]?.type !== 'yaml') return null
  const own = importContext(root, { source, path, byteLimit: undefined, linesAbove })
  if (own.definitions.size > 0 || !closesDetails(root.children)) return null
  const { warnings, spent } = shared
  const { pieces, pending } = readPieces(root.children, { ...own, warnings, spent }, shared.pending)
  shared.pending = isFollowed ? pending.slice(0, -1) : pending
  return pieces
}

// The start of a footnote's reference or definition. A backslash in front would make the sign a text.
const footnote = /(?<!\\)(?:\\\\)*\[\^/

/** A counter that gives the number of lines up to ascending offsets of a text. */
class LineCounter {
  readonly #text: string
  #lines = 0
  #next = 0

  constructor(text: string) {
    this.#text = text
  }

  /** The number of line feeds above an offset, which must not be smaller than the offset of the call before. */
  above(offset: number): number {
    for (
      let at = this.#text.indexOf('\n', this.#next);
      at !== -1 && at < offset;
      at = this.#text.indexOf('\n', at + 1)
    ) {
      this.#lines += 1
      this.#next = at + 1
    }
    return this.#lines
  }
}
