import GithubSlugger from 'github-slugger'
import type { BlockNode, BodyNode, DocNode, Warning } from '../document.ts'
import { plainText } from '../text.ts'
import { exportBlock } from './export-blocks.ts'
import type { ExportWarnings } from './export-inline.ts'
import { writeFlow } from './processor.ts'

/**
 * A top-level block as Markdown: its anchor line, or null for none, and its text, which is empty for an empty
 * paragraph.
 */
type Segment = { anchor: string | null; text: string }

/**
 * The options of an export. `anchors` puts an anchor line above each top-level block. `labels` are the existing labels
 * of footnotes when the blocks are only a part of a document.
 */
export type ExportOptions = { anchors: boolean; labels?: ReadonlySet<string> | null }

/**
 * A document as Markdown, with a warning for each loss. With `anchors`, a comment line with the block id is above each
 * top-level block. A frontmatter that begins the text has no anchor.
 */
export function toMarkdown(document: DocNode, options: ExportOptions): { markdown: string; warnings: Warning[] } {
  const { segments, warnings } = exportSegments(document.content, options)
  return { markdown: joinSegments(segments), warnings }
}

/** The segments of top-level blocks, one for each block. The first block counts as the start of the text. */
export function exportSegments(
  blocks: BlockNode[],
  options: ExportOptions,
): { segments: Segment[]; warnings: Warning[] } {
  const found: ExportWarnings = new Map()
  const labels = options.labels === undefined ? footnoteLabels(blocks) : options.labels
  const slugger = new GithubSlugger()
  const nodes = blocks.map((block, index) => {
    const place = index === 0 ? 'first' : 'top'
    const isLast = index === blocks.length - 1
    return exportBlock(block, { warnings: found, blockId: block.attrs.id, labels, place, isLast })
  })
  const texts = writeFlow(nodes, options.anchors)
  const segments = blocks.map((block, index) => {
    const isOpening = nodes[index]?.[0]?.type === 'yaml'
    const anchor = options.anchors && !isOpening ? anchorLine(block, slugger) : null
    // Only verbatim texts still hold carriage returns, and a warning has named these texts.
    return { anchor, text: (texts[index] ?? '').replace(/\r\n?/g, '\n') }
  })
  const warnings = [...found.values()]
  return { segments, warnings: options.anchors ? withoutKept(warnings, { blocks, segments }) : warnings }
}

/** Joins segments to the text for a reader, which ends with a line feed unless it is empty. */
export function joinSegments(segments: Segment[]): string {
  const parts = segments.map(({ anchor, text }) => [anchor, text].filter((part) => part).join('\n'))
  const markdown = parts.filter((part) => part !== '').join('\n\n')
  // A byte order mark at the start of a text would not be read as a part of it. Raw HTML that is never closed includes
  // its own line feed.
  const end = markdown === '' || markdown.endsWith('\n') ? '' : '\n'
  return `${markdown.replace(/^\ufeff/, '&#xFEFF;')}${end}`
}

/** The anchor line of a block: `<!-- block=<id> -->`; headings get a slug in GitHub's style as well. */
function anchorLine(block: BlockNode, slugger: GithubSlugger): string {
  const slug = block.type === 'heading' ? slugger.slug(plainText(block)) : ''
  return slug === '' ? `<!-- block=${block.attrs.id} -->` : `<!-- block=${block.attrs.id} ${slug} -->`
}

/** The labels of all footnotes that the blocks define, in lower case. */
export function footnoteLabels(blocks: BodyNode[]): Set<string> {
  const labels = new Set<string>()
  const visit = (node: BodyNode): void => {
    if (node.type === 'footnoteDefinition') labels.add(String(node.attrs?.label).toLowerCase())
    for (const child of node.content ?? []) visit(child)
  }
  for (const block of blocks) visit(block)
  return labels
}

type Written = { blocks: BlockNode[]; segments: Segment[] }

// Leaves out the warnings about empty paragraphs that an anchor keeps. Without an anchor, Markdown would drop the
// paragraph.
function withoutKept(warnings: Warning[], { blocks, segments }: Written): Warning[] {
  const empty = blocks.filter((_, index) => segments[index]?.text === '')
  const kept = new Set<string | null>(empty.map((block) => block.attrs.id))
  return warnings.filter(({ code, block_id }) => code !== 'block_dropped' || !kept.has(block_id))
}
