import type { BodyLimits } from '../body-limits.ts'
import type { BlockNode, BodyNode, DocNode, Warning } from '../document.ts'
import { isBlockType } from '../nodes.ts'
import { type Normalised, normaliseDocument } from '../normalise.ts'
import { keepIds } from './keep-ids.ts'
import { type Anchor, type Parsed, type Piece, parseMarkdown } from './parse.ts'
import { exportSegments, footnoteLabels } from './to-markdown.ts'

/**
 * The options of an import. `stored` is the body that the text is written back to, and `path` the JSON pointer of the
 * text. The limits apply to the new body.
 */
export type ImportOptions = Partial<BodyLimits> & { stored?: DocNode; path?: string }

/**
 * Makes the normalised document of a Markdown text. A block under an anchor keeps its id. If the Markdown of the block
 * equals the Markdown of the stored block, the stored node stays as it is. Otherwise nested blocks keep their ids where
 * their content, or their type and order, still match. Refuses as `parseMarkdown` and `normaliseDocument` do. The
 * function blocks the event loop, so texts of callers are read in a thread.
 */
export function fromMarkdown(markdown: string, options: ImportOptions = {}): Normalised<DocNode> {
  return assemble(parseMarkdown({ markdown, ...options }), options)
}

/** The second half of `fromMarkdown`: combines a parsed text with the stored document. */
export function assemble(parsed: Parsed, { stored, ...context }: ImportOptions): Normalised<DocNode> {
  const known = storedBlocks(stored)
  const warnings = [...parsed.warnings]
  const anchored = new Set(parsed.pieces.flatMap(({ anchor }) => (anchor === null ? [] : [anchor.id])))
  const taken = new Set(anchored)
  const entries: BlockEntry[] = parsed.pieces.flatMap((piece, index) => {
    const idle = piece.unused.flatMap((anchor) => emptyParagraphOf(anchor, known, warnings))
    const blocks = blockEntries(piece, { known, anchored, isFirst: index === 0 && idle.length === 0 })
    return [...idle.map((node) => ({ node, kept: true, old: undefined })), ...blocks]
  })
  for (const { node, kept } of entries) if (kept) collectIds(node, taken)
  const content = entries.map(({ node }) => node)
  const { result, ...rest } = normaliseDocument({ type: 'doc', content }, { from: 'markdown', ...context })
  for (const [index, { kept, old }] of entries.entries()) {
    const block = result.content[index]
    if (!kept && old !== undefined && block !== undefined) keepIds(block, old, taken)
  }
  return { result, ...rest, warnings: [...warnings, ...rest.warnings] }
}

// A block of the new body. `kept` says that `node` is the stored node itself; `old` is the stored node that `node`
// replaces.
type BlockEntry = { node: BodyNode; kept: boolean; old: BlockNode | undefined }

type Around = { known: Stored; anchored: ReadonlySet<string>; isFirst: boolean }

function blockEntries({ anchor, blocks, source }: Piece, { known, anchored, isFirst }: Around): BlockEntry[] {
  const [first, ...rest] = blocks
  if (first === undefined) return []
  const others = rest.map((node) => ({ node, kept: false, old: undefined }))
  const id = anchor?.id ?? (first.type === 'frontmatter' ? known.frontmatterId() : null)
  if (id === null) return [{ node: first, kept: false, old: undefined }, ...others]
  const old = known.find(id)
  const fits = old?.type !== 'frontmatter' || isFirst
  if (old !== undefined && fits && known.isUnchanged(old, source) && !movesOut(old, anchored)) {
    return [{ node: old, kept: true, old }]
  }
  const read = old?.type === 'frontmatter' && isFirst ? frontmatterOf(first) : first
  return [{ node: { ...read, attrs: { ...read.attrs, id } }, kept: false, old }, ...others]
}

// Frontmatter that Markdown cannot hold is written as code, so changed frontmatter comes back as code.
function frontmatterOf(block: BodyNode): BodyNode {
  if (block.type !== 'codeBlock' || block.attrs?.language !== 'yaml') return block
  const yaml = (block.content ?? []).map((child) => child.text ?? '').join('')
  return { type: 'frontmatter', attrs: { yaml } }
}

// Of two anchors in a row, the upper one has no text below it. The export writes an empty paragraph in this way.
function emptyParagraphOf(anchor: Anchor, known: Stored, warnings: Warning[]): BlockNode[] {
  const block = known.find(anchor.id)
  if (block !== undefined && known.isUnchanged(block, '')) return [block]
  const message = `Line ${anchor.line}: no block follows this anchor before the next one.`
  warnings.push({ code: 'unused_anchor', message, block_id: anchor.id })
  return []
}

// A stored block does not stay as it is when one of its nested blocks has become a block of its own.
function movesOut(block: BodyNode, anchored: ReadonlySet<string>): boolean {
  return (block.content ?? []).some((child) => anchored.has(String(child.attrs?.id)) || movesOut(child, anchored))
}

function collectIds(node: BodyNode, ids: Set<string>): void {
  if (typeof node.attrs?.id === 'string') ids.add(node.attrs.id)
  for (const child of node.content ?? []) collectIds(child, ids)
}

/** The stored document for a write-back. */
type Stored = {
  /** Finds the stored block of an id, top-level or nested. */
  find: (id: string) => BlockNode | undefined
  /** True if the top-level block is still written as this Markdown. */
  isUnchanged: (block: BlockNode, source: string) => boolean
  /** The id of the frontmatter. Frontmatter has no anchor, but a body has at most one. */
  frontmatterId: () => string | null
}

/** The stored document by block id. The Markdown of its blocks is only written when a caller first asks for it. */
function storedBlocks(document: DocNode | undefined): Stored {
  const blocks = document?.content ?? []
  const topLevel = new Map(blocks.map((block) => [block.attrs.id, block]))
  let nested: Map<string, BlockNode> | undefined
  let rendered: Map<string, string> | undefined
  return {
    find: (id) => {
      nested ??= topLevel.has(id) ? undefined : nestedBlocks(blocks)
      return topLevel.get(id) ?? nested?.get(id)
    },
    isUnchanged: (block, source) => {
      rendered ??= renderBlocks(blocks)
      return rendered.get(block.attrs.id) === source
    },
    frontmatterId: () => (blocks[0]?.type === 'frontmatter' ? blocks[0].attrs.id : null),
  }
}

function renderBlocks(blocks: BlockNode[]): Map<string, string> {
  const { segments } = exportSegments(blocks, { anchors: true, labels: footnoteLabels(blocks) })
  return new Map(blocks.map((block, index) => [block.attrs.id, (segments[index]?.text ?? '').trimEnd()]))
}

function nestedBlocks(blocks: BlockNode[]): Map<string, BlockNode> {
  const byId = new Map<string, BlockNode>()
  const visit = (node: BodyNode): void => {
    for (const child of node.content ?? []) {
      if (isBlockType(child.type)) byId.set(String(child.attrs?.id), child as BlockNode)
      visit(child)
    }
  }
  for (const block of blocks) visit(block)
  return byId
}
