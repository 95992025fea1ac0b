import GithubSlugger from 'github-slugger'
import { Refusal } from '../../errors/errors.ts'
import type { BlockLines } from '../block-lines.ts'
import { type BodyLimits, maximumNodes } from '../body-limits.ts'
import type { BlockNode } from '../document.ts'
import { type EditResult, requireFree } from '../edit.ts'
import { assemble, toDocument } from '../markdown/from-markdown.ts'
import { parseMarkdown } from '../markdown/parse.ts'
import { StoredBlocks } from '../markdown/stored-blocks.ts'
import { refuseNode } from '../normalise-state.ts'
import { type EditPointer, gapAt, pointerAt, putAt } from '../placement.ts'
import { plainText } from '../text.ts'
import type { AddEdit } from './schema.ts'

/** The results of edits that collect what the added blocks bring with them. */
export type Adding = Pick<EditResult, 'body' | 'warnings' | 'attachments'> & {
  limits: BodyLimits
  /** The number of nodes that were added so far. */
  nodes: number
}

/**
 * Adds the blocks of a Markdown text at an end of the document or of a section, and returns their ids. Refuses with 404
 * `section_not_found`, and with 422 whatever makes the text no content of a body, or an id in it one that is in use.
 */
export function addMarkdown(
  adding: Adding,
  edit: AddEdit,
  pointer: EditPointer & { operationIndex: number },
): string[] {
  const { body } = adding
  const index = gapFor(body, edit, pointer.operationIndex)
  const blocks = blocksOf(adding, edit.markdown, pointerAt(pointer, '/markdown'))
  if (blocks.length === 0) return []
  putAt(body, { parent: null, index }, { count: 0, blocks, pointer: pointerAt(pointer, '/markdown') })
  return blocks.map((block) => block.attrs.id)
}

function gapFor(body: BlockLines, { op, section }: AddEdit, index: number): number {
  if (section === undefined)
    return gapAt(body, op === 'append' ? { document_end: true } : { document_start: true }).index
  const heading = headingOf(body, section)
  if (heading === null) throw new Refusal('section_not_found', { details: { id: section, field: 'section', index } })
  return op === 'append' ? endOfSection(body, heading) : heading + 1
}

// The position of a top-level heading of a block id or a slug. The slugs are those of anchors in Markdown.
function headingOf(body: BlockLines, section: string): number | null {
  const slugger = new GithubSlugger()
  for (let position = 0; position < body.length; position += 1) {
    if (!body.isHeading(position)) continue
    const heading = body.block(position)
    if (heading.attrs.id === section || slugger.slug(plainText(heading)) === section) return position
  }
  return null
}

// A section ends before the next heading of the same or a higher rank.
function endOfSection(body: BlockLines, heading: number): number {
  const level = Number(body.block(heading).attrs.level)
  let position = heading + 1
  while (position < body.length && !(body.isHeading(position) && Number(body.block(position).attrs.level) <= level)) {
    position += 1
  }
  return position
}

function blocksOf(adding: Adding, markdown: string, pointer: EditPointer): BlockNode[] {
  const { body, limits } = adding
  const { path, operationIndex } = pointer
  const parsed = parseMarkdown({ markdown, path, ...limits })
  const isEmpty = parsed.pieces.every(({ blocks }) => blocks.length === 0)
  const fresh = toDocument(assemble(parsed, { stored: new StoredBlocks([]), path, ...limits }))
  requireFree(body, fresh.givenIds, { pointer, own: new Set() })
  adding.nodes += isEmpty ? 0 : fresh.nodes
  if (adding.nodes > maximumNodes) {
    throw refuseNode({ path, blockId: null, operationIndex }, `a document holds at most ${maximumNodes} nodes`)
  }
  adding.warnings.push(...fresh.warnings)
  for (const [id, named] of fresh.attachments) {
    if (!adding.attachments.has(id)) adding.attachments.set(id, { ...named, operationIndex })
  }
  // A text without any content is read as an empty paragraph, which nobody has asked for.
  return isEmpty ? [] : fresh.result.content
}
