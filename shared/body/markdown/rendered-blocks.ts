import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { BlockNode, BodyNode, Warning } from '../document.ts'
import { plainText } from '../text.ts'
import { exportBlock } from './export-blocks.ts'
import type { ExportWarnings } from './export-inline.ts'
import { type Flow, writeFlow } from './processor.ts'

/** A top-level block as Markdown. */
export type RenderedBlock = {
  id: string
  /** The Markdown; empty for an empty paragraph. */
  text: string
  /** A warning for each loss. */
  warnings: readonly Warning[]
  /** The text of a heading, from which its slug is made; null for any other block. */
  heading: string | null
  /** True for frontmatter that begins the text. */
  isOpening: boolean
}

/**
 * A set of facts about the surroundings in which blocks are rendered. `parted` says that an anchor stands above each
 * block. `labels` are the labels of footnotes in the document, in lower case; null when they are unknown.
 */
export type Surroundings = { parted: boolean; labels: ReadonlySet<string> | null }

/** Renders the top-level blocks of a text, of which the first block begins the text and the last block ends it. */
export function renderBlocks(blocks: readonly BlockNode[], { parted, labels }: Surroundings): RenderedBlock[] {
  return render(
    blocks.map((block, index) => ({
      block,
      isFirst: index === 0,
      isLast: index === blocks.length - 1,
      after: parted || index === 0 ? null : 'previous',
    })),
    labels,
  )
}

/**
 * Renders the stored lines of a whole body as Markdown, one result for each line. `parted` says that an anchor stands
 * above each block. Rendered blocks are remembered by the hash of their lines and by the other facts on which their
 * Markdown depends. These facts are the bullet of a list directly above, the footnotes of the document for a block that
 * could refer to one, and whether the block ends the text. Only lines that are not remembered are parsed.
 */
export function renderLines(lines: readonly string[], parted: boolean): RenderedBlock[] {
  const labels = labelsIn(lines)
  const found: (RenderedBlock | undefined)[] = []
  const missing: Missing[] = []
  let above: number | null = null
  for (const [index, line] of lines.entries()) {
    const place = { isFirst: index === 0, isLast: index === lines.length - 1 }
    const after = parted || above === null ? null : listAbove(found[above])
    const known = after === 'previous' ? undefined : remembered.get(keyOf(line, { ...place, after, labels }))
    found.push(known)
    if (known === undefined) missing.push({ block: JSON.parse(line) as BlockNode, ...place, after, index, above })
    // An empty paragraph writes nothing, so a list above it stays directly above the next block.
    if (!isEmptyParagraph(line)) above = isList(line) ? index : null
  }
  const rendered = render(missing, labels)
  for (const [at, { index }] of missing.entries()) found[index] = rendered[at]
  remember(missing, { lines, found: found as RenderedBlock[], labels })
  return found as RenderedBlock[]
}

/** The labels of all footnotes that the blocks define, in lower case. */
export function footnoteLabels(blocks: readonly BodyNode[]): Set<string> {
  return new Set(labelsOf(blocks, 'footnoteDefinition'))
}

// The bytes of rendered blocks that a thread remembers. One body fills at most half of this memory, so that a huge body
// leaves room for others.
const memoryBytes = 16 * 1024 * 1024
const remembered = new LRUCache<string, RenderedBlock>({
  maxSize: memoryBytes,
  maxEntrySize: memoryBytes / 64,
  sizeCalculation: bytesOf,
})

type Rendering = { block: BlockNode; isFirst: boolean; isLast: boolean; after: Flow['after'] }
// A block whose line is not remembered, and the index of the list directly above.
type Missing = Rendering & { index: number; above: number | null }
type Place = Omit<Rendering, 'block'> & { labels: ReadonlySet<string> }

function render(renderings: readonly Rendering[], labels: ReadonlySet<string> | null): RenderedBlock[] {
  const found: { warnings: ExportWarnings; nodes: ReturnType<typeof exportBlock> }[] = []
  for (const { block, isFirst, isLast } of renderings) {
    const warnings: ExportWarnings = new Map()
    const place = isFirst ? 'first' : 'top'
    found.push({ warnings, nodes: exportBlock(block, { warnings, blockId: block.attrs.id, labels, place, isLast }) })
  }
  const texts = writeFlow(
    found.map(({ nodes }, index) => ({ nodes, after: renderings[index]?.after ?? null })),
    labels,
  )
  return renderings.map(({ block }, index) => ({
    id: block.attrs.id,
    // Only texts that are written verbatim still hold carriage returns. A warning names each of these texts.
    text: (texts[index] ?? '').replace(/\r\n?/g, '\n'),
    warnings: [...(found[index]?.warnings.values() ?? [])],
    heading: block.type === 'heading' ? plainText(block) : null,
    isOpening: found[index]?.nodes[0]?.type === 'yaml',
  }))
}

type Memory = { lines: readonly string[]; found: readonly RenderedBlock[]; labels: ReadonlySet<string> }

function remember(missing: readonly Missing[], { lines, found, labels }: Memory): void {
  let left = memoryBytes / 2
  for (const { index, above, after: given, ...place } of missing) {
    const block = found[index] as RenderedBlock
    left -= bytesOf(block)
    if (left < 0) return
    const after = given === 'previous' && above !== null ? listAbove(found[above]) : given
    remembered.set(keyOf(lines[index] as string, { ...place, after, labels }), block)
  }
}

function bytesOf({ text, warnings, heading }: RenderedBlock): number {
  const entry = 400 + 300 * warnings.length
  return entry + 2 * (text.length + (heading?.length ?? 0))
}

// The members of a line are sorted. So `type` is the last member of the block, and in an empty paragraph `attrs` stands
// directly before `type`.
function isList(line: string): boolean {
  return line.endsWith('List"}')
}

function isEmptyParagraph(line: string): boolean {
  return line.endsWith('},"type":"paragraph"}')
}

// Returns the bullet of the list directly above a block. If the list is not rendered yet, `previous` says that the list
// is rendered in the same call, just before the block.
function listAbove(list: RenderedBlock | undefined): Flow['after'] {
  if (list === undefined) return 'previous'
  const [, bullet = ''] = /^\d*([-*.)])/.exec(list.text) ?? []
  return { bullet }
}

// Frontmatter is always the first block, and no other block is rendered differently in the first position. So the key
// need not say whether a block is the first.
function keyOf(line: string, { isLast, after, labels }: Place): string {
  const above = after === null || after === 'previous' ? '' : after.bullet
  const end = isLast && line.endsWith('"type":"htmlBlock"}') ? '$' : ''
  const footnotes = /"type":"footnoteReference"|\[\^/.test(line) ? JSON.stringify([...labels]) : ''
  return `${hash('sha256', line, 'base64')}${above}${end}${footnotes}`
}

function labelsIn(lines: readonly string[]): Set<string> {
  const defining = lines.filter((line) => line.includes('"type":"footnoteDefinition"'))
  return footnoteLabels(defining.map((line) => JSON.parse(line) as BlockNode))
}

function labelsOf(blocks: readonly BodyNode[], type: string): string[] {
  const labels: string[] = []
  const visit = (node: BodyNode): void => {
    if (node.type === type) labels.push(String(node.attrs?.label).toLowerCase())
    for (const child of node.content ?? []) visit(child)
  }
  for (const block of blocks) visit(block)
  return labels
}
