import { Refusal } from '../errors/errors.ts'
import type { BlockLines } from './block-lines.ts'
import { blockHash } from './canonical.ts'
import { answerWarnings, type BlockNode, type DocNode, type Warning } from './document.ts'
import { exportSegments, joinSegments, toMarkdown } from './markdown/to-markdown.ts'
import { plainText } from './text.ts'

/** A view of a read that returns content. */
export type ReadView = 'markdown' | 'tiptap-json' | 'plain-text'

/**
 * What stands in a comment above each block of the view `markdown`: the id of the block, or its id and its hash.
 */
export type ReadAnnotation = 'anchors' | 'hashes'

/**
 * A request to read a body page by page. `resume` is the position at which a later page begins; the first page has
 * none.
 */
export type ReadQuery = {
  view: ReadView
  maxTokens: number
  around?: string
  contextBefore: number
  contextAfter: number
  annotate?: ReadAnnotation | undefined
  resume?: number
}

/**
 * A result of a read that has all members of the API's DocumentRead which follow from the body. `resume` is the
 * position at which the next page begins, null after the last page; the cursor of the answer carries it.
 */
export type ReadResult = {
  range: {
    from_position: number
    to_position: number
    start_block_id: string
    end_block_id: string
    block_count: number
  }
  estimated_tokens: number
  budget_exceeded: boolean
  truncated: boolean
  omitted_ranges: { from_position: number; to_position: number }[]
  has_more: boolean
  resume: number | null
  content?: string
  document?: DocNode
  warnings: Warning[]
}

/**
 * Reads top-level blocks of a body within a budget of tokens. The window is the whole document, or the surroundings of
 * the block `around`. Blocks of the window are taken while they fit the budget, and at least one block is taken.
 * Refuses with 404 `block_not_found` an unknown `around`, and with 400 `invalid_cursor` a position outside of the
 * window.
 */
export function readWindow(body: BlockLines, query: ReadQuery): ReadResult {
  const window = windowOf(body, query)
  const start = query.resume ?? window.centre ?? window.from
  if (start < window.from || start > window.to) throw new Refusal('invalid_cursor')
  const measure = measurer(body, query)
  const taken = { from: start, to: start }
  let used = measure(start) + (query.view === 'tiptap-json' ? wrapperUnits : 0)
  const budget = query.maxTokens * 4
  // Without `around`, and on later pages, blocks are taken behind the start alone, and not on both sides of a centre.
  const sides = { after: true, before: window.centre !== null && query.resume === undefined }
  for (let after = true; sides.after || sides.before; after = !after) {
    const side = after ? 'after' : 'before'
    if (!sides[side]) continue
    const next = after ? taken.to + 1 : taken.from - 1
    const fits = next >= window.from && next <= window.to && used + measure(next) + separatorUnits[query.view] <= budget
    sides[side] = fits
    if (!fits) continue
    used += measure(next) + separatorUnits[query.view]
    if (after) taken.to = next
    else taken.from = next
  }
  return present(body, { query, window, taken })
}

/** Estimates the tokens of a text: a quarter of a token for each ASCII character, one for any other character. */
export function estimateTokens(text: string): number {
  return Math.ceil(quarterTokens(text) / 4)
}

// The quarters of a token that the JSON around all blocks adds, and that a separator between two blocks adds. Quarters
// are whole numbers, so the sum over blocks is exact.
const wrapperUnits = '{"type":"doc","content":[]}'.length
const separatorUnits: Record<ReadView, number> = { markdown: 1, 'tiptap-json': 1, 'plain-text': 2 }

/** The position of the top-level block that `around` names or is inside of. Refuses with 404 `block_not_found`. */
export function blockPositionOf(body: BlockLines, around: string): number {
  const position = body.find(around)?.position
  if (position === undefined) throw new Refusal('block_not_found', { details: { id: around, field: 'around' } })
  return position
}

type Window = { from: number; to: number; centre: number | null }
type Range = { from: number; to: number }

function windowOf(body: BlockLines, { around, contextBefore, contextAfter }: ReadQuery): Window {
  if (around === undefined) return { from: 0, to: body.length - 1, centre: null }
  const centre = blockPositionOf(body, around)
  return { from: Math.max(0, centre - contextBefore), to: Math.min(body.length - 1, centre + contextAfter), centre }
}

function present(body: BlockLines, found: { query: ReadQuery; window: Window; taken: Range }): ReadResult {
  const { query, window, taken } = found
  const blocks = blocksOf(body, taken)
  const view = viewWriters[query.view](blocks, query)
  const text = view.content ?? JSON.stringify(view.document)
  const estimated = estimateTokens(text)
  const hasMore = taken.to < window.to
  return {
    range: {
      from_position: taken.from,
      to_position: taken.to,
      start_block_id: (blocks[0] as BlockNode).attrs.id,
      end_block_id: (blocks.at(-1) as BlockNode).attrs.id,
      block_count: blocks.length,
    },
    estimated_tokens: estimated,
    budget_exceeded: estimated > query.maxTokens,
    truncated: taken.from > window.from || hasMore,
    omitted_ranges: complement(taken, body.length),
    has_more: hasMore,
    resume: hasMore ? taken.to + 1 : null,
    ...view,
    warnings: answerWarnings(view.warnings),
  }
}

type View = { content?: string; document?: DocNode; warnings: Warning[] }

const viewWriters: Record<ReadView, (blocks: BlockNode[], query: ReadQuery) => View> = {
  markdown: (blocks, { annotate }) => {
    if (annotate !== undefined) return annotatedView(blocks, annotate)
    const { markdown, warnings } = toMarkdown({ type: 'doc', content: blocks }, { anchors: false, labels: null })
    return { content: markdown, warnings }
  },
  'tiptap-json': (blocks) => ({ document: { type: 'doc', content: blocks }, warnings: [] }),
  'plain-text': (blocks) => ({ content: plainText({ type: 'doc', content: blocks }), warnings: [] }),
}

// A part of a document has no slugs behind the ids of headings, because a slug depends on all headings before it.
function annotatedView(blocks: BlockNode[], annotate: ReadAnnotation): View {
  const { segments, warnings } = exportSegments(blocks, { anchors: true, labels: null })
  const annotated = segments.map(({ anchor, text }, index) => ({
    anchor: anchor === null ? null : annotation(blocks[index] as BlockNode, annotate),
    text,
  }))
  return { content: joinSegments(annotated), warnings }
}

function annotation(block: BlockNode, annotate: ReadAnnotation): string {
  return annotate === 'anchors'
    ? `<!-- block=${block.attrs.id} -->`
    : `<!-- block=${block.attrs.id} ${blockHash(block)} -->`
}

function complement(taken: Range, length: number): { from_position: number; to_position: number }[] {
  const before = { from_position: 0, to_position: taken.from - 1 }
  const after = { from_position: taken.to + 1, to_position: length - 1 }
  return [before, after].filter((range) => range.from_position <= range.to_position)
}

function blocksOf(body: BlockLines, { from, to }: Range): BlockNode[] {
  return Array.from({ length: to - from + 1 }, (_, index) => body.block(from + index))
}

// The quarter tokens that a block adds to the text. Each block is measured once.
function measurer(body: BlockLines, { view, annotate }: ReadQuery): (position: number) => number {
  const known = new Map<number, number>()
  return (position) => {
    const units = known.get(position) ?? blockUnits(body.block(position), { view, annotate })
    known.set(position, units)
    return units
  }
}

function blockUnits(block: BlockNode, { view, annotate }: Pick<ReadQuery, 'view' | 'annotate'>): number {
  const units = quarterTokens(blockText[view](block))
  return view === 'markdown' && annotate !== undefined ? units + annotation(block, annotate).length + 1 : units
}

const blockText: Record<ReadView, (block: BlockNode) => string> = {
  markdown: (block) => joinSegments(exportSegments([block], { anchors: false, labels: null }).segments),
  'tiptap-json': (block) => JSON.stringify(block),
  'plain-text': plainText,
}

function quarterTokens(text: string): number {
  let units = 0
  for (const character of text) units += (character.codePointAt(0) as number) < 128 ? 1 : 4
  return units
}
