import GithubSlugger from 'github-slugger'
import type { BlockNode, BodyNode, DocNode, Warning } from '../document.ts'
import { plainText } from '../text.ts'
import { exportBlock } from './export-blocks.ts'
import type { ExportWarnings } from './export-inline.ts'
import { writeFlow } from './processor.ts'

/** One top-level block as Markdown: its anchor line, or null for none, and its text, empty for an empty paragraph. */
export type Segment = { anchor: string | null; text: string }

/** Whether each top-level block gets its anchor line; which labels of footnotes exist, when blocks are a part only. */
export type ExportOptions = { anchors: boolean; labels?: ReadonlySet<string> | null }

/**
 * A document as Markdown, with a warning for each thing it cannot say (decisions 2.5). With `anchors`, a comment line
 * with the block id stands above each top-level block but a frontmatter that opens the text.
 */
export function toMarkdown(document: DocNode, options: ExportOptions): { markdown: string; warnings: Warning[] } {
  const { segments, warnings } = exportSegments(document.content, options)
  return { markdown: joinSegments(segments), warnings }
}

/** The segments of top-level blocks, one each; the first of `blocks` is taken to open the text. */
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
    // Only verbatim texts still hold carriage returns, and those were warned about.
    return { anchor, text: (texts[index] ?? '').replace(/\r\n?/g, '\n') }
  })
  const warnings = [...found.values()]
  return { segments, warnings: options.anchors ? withoutKept(warnings, { blocks, segments }) : warnings }
}

/** Segments put together to the text that a reader gets, ending in a line feed unless it is empty. */
export function joinSegments(segments: Segment[]): string {
  const parts = segments.map(({ anchor, text }) => [anchor, text].filter((part) => part).join('\n'))
  const markdown = parts.filter((part) => part !== '').join('\n\n')
  // A byte order mark at the start of a text is no part of it; raw HTML that is never closed holds its own line feed.
  const end = markdown === '' || markdown.endsWith('\n') ? '' : '\n'
  return `${markdown.replace(/^\ufeff/, '&#xFEFF;')}${end}`
}

/** The anchor line of a block: `<!-- block=<id> -->`, for headings with a GitHub-style slug. */
function anchorLine(block: BlockNode, slugger: GithubSlugger): string {
  const slug = block.type === 'heading' ? slugger.slug(plainText(block)) : ''
  return slug === '' ? `<!-- block=${block.attrs.id} -->` : `<!-- block=${block.attrs.id} ${slug} -->`
}

/** The labels of all footnotes that the blocks define, lower-cased. */
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

// An anchor keeps the empty paragraph that would otherwise be dropped.
function withoutKept(warnings: Warning[], { blocks, segments }: Written): Warning[] {
  const empty = blocks.filter((_, index) => segments[index]?.text === '')
  const kept = new Set<string | null>(empty.map((block) => block.attrs.id))
  return warnings.filter(({ code, block_id }) => code !== 'block_dropped' || !kept.has(block_id))
}
