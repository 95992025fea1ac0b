import type { BodyLimits } from '../body-limits.ts'
import { documentToLines } from '../canonical.ts'
import type { BlockNode, BodyNode, DocNode, Warning } from '../document.ts'
import { type Normalised, normaliseDocument } from '../normalise.ts'
import { keepIds } from './keep-ids.ts'
import { type Anchor, type Piece, parseMarkdown } from './parse.ts'
import { StoredBlocks } from './stored-blocks.ts'

/**
 * A set of options of an import. `stored` is the body that the text is written back to, and `path` the JSON pointer of
 * the text. The limits apply to the new body.
 */
export type ImportOptions = Partial<BodyLimits> & { stored?: DocNode; path?: string }

/**
 * Makes the normalised document of a Markdown text. An anchor is a comment that names a block id; the block below it
 * gets this id. If the Markdown of the block equals the Markdown of the stored block, the stored node stays as it is.
 * Otherwise nested blocks keep their ids where their content, or their type and order, still match. Refuses with 422
 * `invalid_markdown_anchor`, `duplicate_block_anchor`, `invalid_node` or `document_too_large`. The function blocks the
 * event loop, so texts of callers are read in a thread.
 */
export function fromMarkdown(markdown: string, { stored, ...context }: ImportOptions = {}): Normalised<DocNode> {
  const lines = stored === undefined ? [] : documentToLines(stored)
  const parsed = parseMarkdown({ markdown, ...context })
  return toDocument(assemble(parsed, { ...context, stored: new StoredBlocks(lines) }))
}

/** A stored block that was recognised by its Markdown and not parsed: its stored line, and the anchors above it. */
export type KeptPiece = Pick<Piece, 'unused'> & { anchor: Anchor; line: string }

/**
 * A text that has been read into pieces: stretches with their blocks, some of which were recognised as stored blocks.
 * `warnings` come from the parser.
 */
export type Read = { pieces: readonly (Piece | KeptPiece)[]; warnings: readonly Warning[] }

/**
 * A target of an import that has the stored blocks which the text is written back to, and the options of the import.
 */
export type Assembling = Omit<ImportOptions, 'stored'> & { stored: StoredBlocks }

/**
 * A new body as a list of blocks. A block that was recognised and not parsed is given as its stored line. Counts and
 * attachments include only the other blocks.
 */
export type Assembled = Omit<Normalised<DocNode>, 'result'> & { blocks: (BlockNode | string)[] }

/**
 * Combines the pieces of a parsed text with the stored blocks, and normalises the new blocks. This is the second half
 * of an import, after parsing.
 */
export function assemble({ pieces, warnings }: Read, { stored, ...context }: Assembling): Assembled {
  const unused: Warning[] = []
  const anchored = new Set(anchorsOf(pieces).map(({ id }) => id))
  const entries = pieces.flatMap((piece, index): Entry[] => {
    const idle = piece.unused.flatMap((anchor) => emptyParagraphOf(anchor, stored, unused))
    const isFirst = index === 0 && idle.length === 0
    const own = 'line' in piece ? [{ line: piece.line }] : blockEntries(piece, { stored, anchored, isFirst })
    return [...idle.map((node) => ({ node, kept: true, old: undefined })), ...own]
  })
  const read = entries.filter((entry) => 'node' in entry)
  const content = read.map(({ node }) => node)
  const { result, ...rest } = normaliseDocument({ type: 'doc', content }, { from: 'markdown', ...context })
  keepNestedIds(result.content, read, anchored)
  return { ...rest, blocks: inOrder(entries, result.content), warnings: [...warnings, ...unused, ...rest.warnings] }
}

/** The document of assembled blocks. None of the blocks may be a stored line. */
export function toDocument({ blocks, ...rest }: Assembled): Normalised<DocNode> {
  return { ...rest, result: { type: 'doc', content: blocks as BlockNode[] } }
}

/** All anchors of a text, in order. */
export function anchorsOf(pieces: Read['pieces']): Anchor[] {
  return pieces.flatMap(({ unused, anchor }) => (anchor === null ? unused : [...unused, anchor]))
}

// A block of the new body. `kept` says that `node` is the stored node itself; `old` is the stored node that `node`
// replaces.
type BlockEntry = { node: BodyNode; kept: boolean; old: BlockNode | undefined }
type Entry = BlockEntry | { line: string }

// Puts stored lines and normalised blocks into the order of the text. Without entries, the body is the empty paragraph
// that the normaliser has made.
function inOrder(entries: readonly Entry[], normalised: readonly BlockNode[]): (BlockNode | string)[] {
  if (entries.length === 0) return [...normalised]
  let next = 0
  return entries.map((entry) => ('line' in entry ? entry.line : (normalised[next++] as BlockNode)))
}

function keepNestedIds(blocks: readonly BlockNode[], entries: readonly BlockEntry[], used: ReadonlySet<string>): void {
  const taken = new Set(used)
  for (const { node, kept } of entries) if (kept) collectIds(node, taken)
  for (const [index, { kept, old }] of entries.entries()) {
    const block = blocks[index]
    if (!kept && old !== undefined && block !== undefined) keepIds(block, old, taken)
  }
}

type Around = { stored: StoredBlocks; anchored: ReadonlySet<string>; isFirst: boolean }

function blockEntries({ anchor, blocks, source }: Piece, { stored, anchored, isFirst }: Around): BlockEntry[] {
  const [first, ...rest] = blocks
  if (first === undefined) return []
  const others = rest.map((node) => ({ node, kept: false, old: undefined }))
  const id = anchor?.id ?? (first.type === 'frontmatter' ? stored.frontmatterId() : null)
  if (id === null) return [{ node: first, kept: false, old: undefined }, ...others]
  const old = stored.find(id)
  const fits = old?.type !== 'frontmatter' || isFirst
  if (old !== undefined && fits && stored.isUnchanged(old, source) && !movesOut(old, anchored)) {
    return [{ node: old, kept: true, old }]
  }
  const read = old?.type === 'frontmatter' && isFirst ? frontmatterOf(first) : first
  return [{ node: { ...read, attrs: { ...read.attrs, id } }, kept: false, old }, ...others]
}

// Reads a code block in YAML below the anchor of the stored frontmatter as frontmatter. The export writes frontmatter
// as such code when Markdown cannot hold it.
function frontmatterOf(block: BodyNode): BodyNode {
  if (block.type !== 'codeBlock' || block.attrs?.language !== 'yaml') return block
  const yaml = (block.content ?? []).map((child) => child.text ?? '').join('')
  return { type: 'frontmatter', attrs: { yaml } }
}

// Returns the stored empty paragraph that an anchor without text stands for, since the export writes an empty paragraph
// as its anchor alone. For any other block, warns that the anchor is unused.
function emptyParagraphOf(anchor: Anchor, stored: StoredBlocks, warnings: Warning[]): BlockNode[] {
  const block = stored.find(anchor.id)
  if (block !== undefined && stored.isUnchanged(block, '')) return [block]
  const message = `Line ${anchor.line}: no block follows this anchor before the next one.`
  warnings.push({ code: 'unused_anchor', message, block_id: anchor.id })
  return []
}

// True if a nested block has an anchor of its own in the text, and so moves to the top level. Then the stored block
// around it cannot stay as it is.
function movesOut(block: BodyNode, anchored: ReadonlySet<string>): boolean {
  return (block.content ?? []).some((child) => anchored.has(String(child.attrs?.id)) || movesOut(child, anchored))
}

function collectIds(node: BodyNode, ids: Set<string>): void {
  if (typeof node.attrs?.id === 'string') ids.add(node.attrs.id)
  for (const child of node.content ?? []) collectIds(child, ids)
}
