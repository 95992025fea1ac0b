import { cutText } from '../schema/strings.ts'
import type { BlockLines } from './block-lines.ts'
import type { BlockNode } from './document.ts'
import { plainText } from './text.ts'

/** A section of an outline: a top-level heading and the blocks up to the next heading of the same or a higher rank. */
export type OutlineSection = {
  block_id: string
  level: number
  title: string
  heading_path: string[]
  parent_block_id: string | null
  start_position: number
  end_position: number
  start_block_id: string
  end_block_id: string
  block_count: number
}

/** A range of neighbouring top-level blocks that includes both ends. */
export type BlockRange = {
  start_position: number
  end_position: number
  start_block_id: string
  end_block_id: string
  block_count: number
}

/** An outline that has all members of the API's DocumentOutline which follow from the blocks. */
export type Outline = {
  block_count: number
  heading_count: number
  preamble: BlockRange | null
  sections: OutlineSection[]
}

/** The outline of a body: its top-level headings as flat sections, and the blocks before the first heading. */
export function outlineOf(blocks: readonly BlockNode[]): Outline {
  const sections: OutlineSection[] = []
  let open: OutlineSection[] = []
  const close = (level: number, position: number): void => {
    const above = sectionsAbove(open, level)
    for (const ended of open.slice(above.length)) endSection(ended, blocks, position - 1)
    open = above
  }
  for (const [position, block] of blocks.entries()) {
    if (block.type !== 'heading') continue
    close(headingLevel(block), position)
    const section = startSection(block, position, open.at(-1))
    sections.push(section)
    open.push(section)
  }
  close(0, blocks.length)
  const first = sections[0]?.start_position ?? blocks.length
  const preamble = first > 0 ? rangeOf(blocks, 0, first - 1) : null
  return { block_count: blocks.length, heading_count: sections.length, preamble, sections }
}

/** The open sections, outermost first, that a heading of a level does not close. */
export function sectionsAbove<Section extends { level: number }>(open: readonly Section[], level: number): Section[] {
  return open.filter((section) => section.level < level)
}

/**
 * A finder of the heading paths of a body. The body must not change while the finder is in use. A path holds the titles
 * of the sections around a top-level block, outermost first, each cut after 200 code points. The path of a heading ends
 * with its own title. When paths are asked for in document order, all paths together take one pass over the headings.
 */
export class HeadingPaths {
  readonly #body: BlockLines
  #open: OpenSection[] = []
  #passed = 0

  constructor(body: BlockLines) {
    this.#body = body
  }

  /** The path of the top-level block at a position. */
  at(position: number): string[] {
    if (position + 1 < this.#passed) {
      this.#open = []
      this.#passed = 0
    }
    for (; this.#passed <= position; this.#passed++) {
      if (this.#body.isHeading(this.#passed)) this.#enter(this.#body.block(this.#passed))
    }
    return this.#open.map(({ entry }) => entry)
  }

  #enter(heading: BlockNode): void {
    const level = headingLevel(heading)
    const entry = headingPathEntry(headingTitle(heading))
    this.#open = [...sectionsAbove(this.#open, level), { level, entry }]
  }
}

/**
 * A title as an entry of a heading path: cut after 200 code points, with `…` behind the cut. Paths repeat the titles of
 * all ancestors. With whole titles an answer could be far larger than its document.
 */
export function headingPathEntry(title: string): string {
  if (title.length <= entryLength) return title
  const start = cutText(title, entryLength)
  return start === title ? title : `${start}…`
}

const entryLength = 200

/** The title of a heading: its plain text on one line. */
export function headingTitle(heading: BlockNode): string {
  return plainText(heading).replace(/\s+/g, ' ').trim()
}

type OpenSection = { level: number; entry: string }

function rangeOf(blocks: readonly BlockNode[], start: number, end: number): BlockRange {
  return {
    start_position: start,
    end_position: end,
    start_block_id: idAt(blocks, start),
    end_block_id: idAt(blocks, end),
    block_count: end - start + 1,
  }
}

function startSection(block: BlockNode, position: number, parent: OutlineSection | undefined): OutlineSection {
  const id = block.attrs.id
  const title = headingTitle(block)
  return {
    block_id: id,
    level: headingLevel(block),
    title,
    heading_path: [...(parent?.heading_path ?? []), headingPathEntry(title)],
    parent_block_id: parent?.block_id ?? null,
    start_position: position,
    end_position: position,
    start_block_id: id,
    end_block_id: id,
    block_count: 1,
  }
}

function endSection(section: OutlineSection, blocks: readonly BlockNode[], position: number): void {
  section.end_position = position
  section.end_block_id = idAt(blocks, position)
  section.block_count = position - section.start_position + 1
}

function headingLevel(block: BlockNode): number {
  return Number(block.attrs.level ?? 1)
}

function idAt(blocks: readonly BlockNode[], position: number): string {
  return (blocks[position] as BlockNode).attrs.id
}
