import type { Html, Root, RootContent } from 'mdast'
import { Refusal } from '../../errors/errors.ts'
import { blockIdPattern } from '../../schema/ids.ts'
import type { BodyLimits } from '../body-limits.ts'
import type { BodyNode, Warning } from '../document.ts'
import { checkText, refuseNode } from '../normalise-state.ts'
import { readFlow } from './import-blocks.ts'
import { type ImportContext, importContext, warnAt } from './import-context.ts'
import { parseTree } from './processor.ts'

/** An anchor of a text that has the block id named by the anchor comment, and its line number. */
export type Anchor = { id: string; line: number }

/**
 * A stretch of a text and its blocks. `source` is the Markdown of the stretch without white space at the end. `anchor`
 * is the nearest anchor above the blocks. `unused` are the anchors directly above that anchor, which have no blocks of
 * their own. The last piece of a text may hold only unused anchors.
 */
export type Piece = { anchor: Anchor | null; unused: Anchor[]; blocks: BodyNode[]; source: string }

/** A parsed text as plain data, which a thread can pass on. */
export type Parsed = { pieces: Piece[]; warnings: Warning[] }

// The trimmed content of an anchor comment: the id and, optionally, a slug.
const anchorPattern = /^block=(\S*)(?:\s+\S+)?$/
const blockId = new RegExp(blockIdPattern)
// A refusal lists this many lines of an anchor that occurs again and again.
const shownLines = 20

/**
 * A text to parse, its JSON pointer in the request, and the limits on the body. The input is plain data, which can be
 * passed to a thread.
 */
export type MarkdownInput = Partial<BodyLimits> & { markdown: string; path?: string }

/**
 * Parses a Markdown text into blocks, which are not normalised yet. Refuses with 422 `invalid_markdown_anchor`,
 * `duplicate_block_anchor`, `invalid_node` for content that no body may hold, and `document_too_large` as soon as the
 * addresses of links exceed the limit on bytes.
 */
export function parseMarkdown(input: MarkdownInput): Parsed {
  const { path = '', byteLimit } = input
  const source = markdownSource(input)
  const root = parseWithin(source, path)
  const context = importContext(root, { source, path, byteLimit })
  const { pieces, pending } = readPieces(root.children, context)
  warnUnusedDefinitions(context)
  return { pieces: checkedPieces(pieces, pending), warnings: context.warnings }
}

/**
 * The text with a line feed as the end of each line, and U+FFFD for U+0000 (CommonMark 2.3). All offsets refer to the
 * returned text. Refuses with 422 `invalid_node` a text that no body may hold.
 */
export function markdownSource({ markdown, path = '' }: MarkdownInput): string {
  const source = markdown.replaceAll('\0', '\ufffd').replace(/\r\n?/g, '\n')
  checkText(source, { path, blockId: null })
  return source
}

/**
 * Adds to the pieces of a text a last piece for the anchors at its end, which have no blocks, and checks all anchors.
 * Refuses with 422 `invalid_markdown_anchor` and `duplicate_block_anchor`.
 */
export function checkedPieces<P extends Pick<Piece, 'anchor' | 'unused'>>(
  pieces: P[],
  pending: Anchor[],
): (P | Piece)[] {
  const last: Piece[] = pending.length > 0 ? [{ anchor: null, unused: pending, blocks: [], source: '' }] : []
  const all = [...pieces, ...last]
  checkAnchors(all)
  return all
}

/**
 * Reads the root nodes of a text. `above` are the anchors directly above the text. `pending` are the anchors at the
 * end, which have no blocks.
 */
export function readPieces(
  nodes: RootContent[],
  context: ImportContext,
  above: readonly Anchor[] = [],
): { pieces: Piece[]; pending: Anchor[] } {
  const pieces: Piece[] = []
  let pending = [...above]
  const readings = readFlow(
    nodes.filter((node) => anchorOf(node, context) === null),
    context,
  )
  const blocks = new Map(readings.map((reading) => [reading.node, reading]))
  for (const [index, node] of nodes.entries()) {
    const anchor = anchorOf(node, context)
    const reading = blocks.get(node)
    if (anchor !== null) pending.push(anchor)
    if (reading === undefined || reading.blocks.length === 0) continue
    const last = nodes.indexOf(reading.last, index)
    const source = sourceOf(nodes, { from: index, to: last, context })
    pieces.push({ anchor: pending.at(-1) ?? null, unused: pending.slice(0, -1), blocks: reading.blocks, source })
    pending = []
  }
  return { pieces, pending }
}

/** The anchor of a root node: raw HTML that is one anchor comment; null for any other node. */
export function anchorOf(node: RootContent, { linesAbove }: Pick<ImportContext, 'linesAbove'>): Anchor | null {
  const comment = node.type === 'html' ? (node as Html).value.trim() : ''
  if (!comment.startsWith('<!--') || !comment.endsWith('-->')) return null
  const match = anchorPattern.exec(comment.slice('<!--'.length, -'-->'.length).trim())
  return match === null ? null : { id: match[1] ?? '', line: linesAbove + (node.position?.start.line ?? 1) }
}

type Span = { from: number; to: number; context: ImportContext }

function sourceOf(nodes: RootContent[], { from, to, context }: Span): string {
  const start = nodes[from]?.position?.start.offset ?? 0
  const end = nodes[to + 1]?.position?.start.offset ?? context.source.length
  return context.source.slice(start, end).trimEnd()
}

function checkAnchors(pieces: readonly Pick<Piece, 'anchor' | 'unused'>[]): void {
  const linesById = new Map<string, number[]>()
  for (const anchor of pieces.flatMap((piece) => [...piece.unused, ...(piece.anchor ? [piece.anchor] : [])])) {
    const lines = linesById.get(anchor.id)
    if (lines === undefined) linesById.set(anchor.id, [anchor.line])
    else lines.push(anchor.line)
  }
  for (const [id, lines] of linesById) {
    const details = { block_id: id, lines: lines.slice(0, shownLines) }
    if (!blockId.test(id)) throw new Refusal('invalid_markdown_anchor', { details })
    if (lines.length > 1) throw new Refusal('duplicate_block_anchor', { details })
  }
}

// A body cannot keep a link definition without a link. A definition that links use is kept as the address of these
// links.
function warnUnusedDefinitions(context: ImportContext): void {
  for (const [identifier, definition] of context.definitions) {
    if (context.used.has(identifier)) continue
    const message = 'a link definition that no link uses was left out.'
    warnAt(context, { code: 'block_dropped', message, line: definition.position?.start.line })
  }
}

/**
 * Parses a text into its tree. The parser calls itself where nodes nest, so a hostile text can exhaust the stack.
 * Refuses such a text with 422 `invalid_node`.
 */
export function parseWithin(source: string, path: string): Root {
  try {
    return parseTree(source)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw refuseNode({ path, blockId: null }, 'the Markdown nests too deeply')
  }
}
