import type { Html, Root, RootContent } from 'mdast'
import { Refusal } from '../../errors/errors.ts'
import { blockIdPattern } from '../../schema/ids.ts'
import { codePoints } from '../../schema/strings.ts'
import { type BodyLimits, checkCharacters } from '../body-limits.ts'
import type { BodyNode, Warning } from '../document.ts'
import { checkText, refuseNode } from '../normalise-state.ts'
import { readFlow } from './import-blocks.ts'
import { type ImportContext, importContext, warnAt } from './import-context.ts'
import { parseTree } from './processor.ts'

/** An anchor of the text: the block id that it names, and its line number. */
export type Anchor = { id: string; line: number }

/**
 * A stretch of the text and its blocks. `source` is its Markdown without white space at the end. `anchor` is the
 * nearest anchor above the blocks, and `unused` are the anchors directly above that anchor. The last piece of a text
 * may hold only unused anchors.
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
 * A text to parse, its JSON pointer in the request, and the limits on the body. It is plain data, which can be passed
 * to a thread.
 */
export type MarkdownInput = Partial<BodyLimits> & { markdown: string; path?: string }

/**
 * Parses a Markdown text into blocks, which are not normalised yet. Refuses with 422 `invalid_markdown_anchor`,
 * `duplicate_block_anchor`, `invalid_node` for content that no body may hold, and `document_too_large` as soon as a
 * limit is certainly exceeded.
 */
export function parseMarkdown({ markdown, path = '', characterLimit, byteLimit }: MarkdownInput): Parsed {
  checkText(markdown, { path, blockId: null })
  const source = markdown.replace(/\r\n?/g, '\n')
  if (characterLimit !== undefined && source.length > characterLimit) {
    checkCharacters(leastCharacters(source), characterLimit)
  }
  const root = parseWithin(source, path)
  const context = importContext(root, { source, path, byteLimit })
  const pieces = readPieces(root, context)
  warnUnusedDefinitions(context)
  checkAnchors(pieces)
  return { pieces, warnings: context.warnings }
}

function readPieces(root: Root, context: ImportContext): Piece[] {
  const pieces: Piece[] = []
  const nodes = root.children
  let pending: Anchor[] = []
  const readings = readFlow(
    nodes.filter((node) => anchorOf(node) === null),
    context,
  )
  const blocks = new Map(readings.map((reading) => [reading.node, reading]))
  for (const [index, node] of nodes.entries()) {
    const anchor = anchorOf(node)
    const reading = blocks.get(node)
    if (anchor !== null) pending.push(anchor)
    if (reading === undefined || reading.blocks.length === 0) continue
    const last = nodes.indexOf(reading.last, index)
    const source = sourceOf(nodes, { from: index, to: last, context })
    pieces.push({ anchor: pending.at(-1) ?? null, unused: pending.slice(0, -1), blocks: reading.blocks, source })
    pending = []
  }
  if (pending.length > 0) pieces.push({ anchor: null, unused: pending, blocks: [], source: '' })
  return pieces
}

/** The anchor of a root node: raw HTML that is one anchor comment; null for any other node. */
function anchorOf(node: RootContent): Anchor | null {
  const comment = node.type === 'html' ? (node as Html).value.trim() : ''
  if (!comment.startsWith('<!--') || !comment.endsWith('-->')) return null
  const match = anchorPattern.exec(comment.slice('<!--'.length, -'-->'.length).trim())
  return match === null ? null : { id: match[1] ?? '', line: node.position?.start.line ?? 1 }
}

type Span = { from: number; to: number; context: ImportContext }

function sourceOf(nodes: RootContent[], { from, to, context }: Span): string {
  const start = nodes[from]?.position?.start.offset ?? 0
  const end = nodes[to + 1]?.position?.start.offset ?? context.source.length
  return context.source.slice(start, end).trimEnd()
}

function checkAnchors(pieces: Piece[]): void {
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

// A body has no room for a definition without a link. The other definitions live on in their links.
function warnUnusedDefinitions(context: ImportContext): void {
  for (const [identifier, definition] of context.definitions) {
    if (context.used.has(identifier)) continue
    const message = 'a link definition that no link uses was left out.'
    warnAt(context, { code: 'block_dropped', message, line: definition.position?.start.line })
  }
}

// The parser itself recurses where nodes nest. A hostile text can exhaust the stack.
function parseWithin(source: string, path: string): Root {
  try {
    return parseTree(source)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw refuseNode({ path, blockId: null }, 'the Markdown nests too deeply')
  }
}

/**
 * A lower bound of the characters of a body, from its Markdown text. It counts the letters of the paragraphs without
 * any sign of HTML, links, math, tables, fences or references. The count ends at a sign that may hide more than its own
 * paragraph. The time is linear in the text.
 */
function leastCharacters(markdown: string): number {
  if (/^\ufeff?---/.test(markdown)) return 0
  const end = markdown.search(/<(?:!|\?|pre|script|style|textarea)|\$\$/i)
  const paragraphs = (end === -1 ? markdown : markdown.slice(0, end)).split(/\n[ \t]*\n/)
  // The last paragraph is left out, because the text may have been cut within it.
  if (end !== -1) paragraphs.pop()
  return paragraphs.reduce((sum, text) => sum + (/[<>[\]&|$`~]/.test(text) ? 0 : letters(text)), 0)
}

function letters(text: string): number {
  return codePoints(text.replace(/\P{L}+/gu, ''))
}
