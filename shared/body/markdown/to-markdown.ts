import GithubSlugger from 'github-slugger'
import type { BlockNode, DocNode, Warning } from '../document.ts'
import { footnoteLabels, type RenderedBlock, renderBlocks, renderLines } from './rendered-blocks.ts'

/**
 * A top-level block as Markdown that has an anchor line, or null for none, and a text. The text of an empty paragraph
 * is empty.
 */
type Segment = { anchor: string | null; text: string }

/**
 * A set of options of an export. `anchors` puts an anchor line above each top-level block. When the blocks are only an
 * excerpt of a document, `labels` are the labels of the footnotes that the document defines.
 */
export type ExportOptions = { anchors: boolean; labels?: ReadonlySet<string> | null }

/** A body as Markdown that has a warning for each loss. */
export type MarkdownText = { markdown: string; warnings: Warning[] }

/**
 * A document as Markdown, with a warning for each loss. With `anchors`, a comment line with the block id is above each
 * top-level block. Frontmatter that begins the text has no anchor.
 */
export function toMarkdown(document: DocNode, options: ExportOptions): MarkdownText {
  const { segments, warnings } = exportSegments(document.content, options)
  return { markdown: joinSegments(segments), warnings }
}

/**
 * The stored lines of a whole body as Markdown, with a warning for each loss. With `anchors`, an anchor line stands
 * above each block. Blocks that were rendered before are remembered.
 */
export function linesToMarkdown(lines: readonly string[], { anchors }: { anchors: boolean }): MarkdownText {
  const { segments, warnings } = segmentsOf(renderLines(lines, anchors), anchors)
  return { markdown: joinSegments(segments), warnings }
}

/**
 * Renders top-level blocks as Markdown, one segment for each block. The first block counts as the start of the text.
 */
export function exportSegments(
  blocks: BlockNode[],
  { anchors, labels = footnoteLabels(blocks) }: ExportOptions,
): { segments: Segment[]; warnings: Warning[] } {
  return segmentsOf(renderBlocks(blocks, { parted: anchors, labels }), anchors)
}

function segmentsOf(blocks: RenderedBlock[], anchors: boolean): { segments: Segment[]; warnings: Warning[] } {
  const slugger = new GithubSlugger()
  const segments = blocks.map((block) => {
    return { anchor: anchors && !block.isOpening ? anchorLine(block, slugger) : null, text: block.text }
  })
  const warnings = blocks.flatMap((block) => (anchors && block.text === '' ? withoutKept(block) : block.warnings))
  return { segments, warnings }
}

/** Joins segments to the text that a reader gets. The text ends with a line feed unless it is empty. */
export function joinSegments(segments: Segment[]): string {
  const parts = segments.map(({ anchor, text }) => [anchor, text].filter((part) => part).join('\n'))
  const markdown = parts.filter((part) => part !== '').join('\n\n')
  // A parser would drop a byte order mark at the start of a text, so the mark is written as a character reference. Raw
  // HTML that is never closed includes its own line feed.
  const end = markdown === '' || markdown.endsWith('\n') ? '' : '\n'
  return `${markdown.replace(/^\ufeff/, '&#xFEFF;')}${end}`
}

/**
 * The anchor line of a block: `<!-- block=<id> -->`. In the anchor line of a heading, a slug in GitHub's style follows
 * the id.
 */
function anchorLine({ id, heading }: RenderedBlock, slugger: GithubSlugger): string {
  const slug = heading === null ? '' : slugger.slug(heading)
  return slug === '' ? `<!-- block=${id} -->` : `<!-- block=${id} ${slug} -->`
}

// Leaves out the warning that an empty paragraph is dropped, because the anchor line alone stands for the paragraph.
function withoutKept({ id, warnings }: RenderedBlock): Warning[] {
  return warnings.filter(({ code, block_id }) => code !== 'block_dropped' || block_id !== id)
}
