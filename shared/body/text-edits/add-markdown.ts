import GithubSlugger from 'github-slugger'
import { Refusal } from '../../errors/errors.ts'
import { type BlockLines, blockIds, nodeAt } from '../block-lines.ts'
import { type BodyLimits, maximumNodes } from '../body-limits.ts'
import { documentToLines } from '../canonical.ts'
import type { BlockNode } from '../document.ts'
import { type EditResult, requireFree } from '../edit.ts'
import { anchorsOf, assemble, toDocument } from '../markdown/from-markdown.ts'
import { type Parsed, parseMarkdown } from '../markdown/parse.ts'
import { StoredBlocks } from '../markdown/stored-blocks.ts'
import { refuseNode } from '../normalise-state.ts'
import { type EditPointer, type Gap, gapAt, gapOf, locate, pointerAt, putAt } from '../placement.ts'
import { plainText } from '../text.ts'
import { type AddEdit, insertPlaces, type ReplaceBlockEdit } from './schema.ts'

/** The results of edits that collect what the added blocks bring with them. */
export type Adding = Pick<EditResult, 'body' | 'warnings' | 'attachments'> & {
  limits: BodyLimits
  /** The number of nodes that were added so far. */
  nodes: number
}

/** The pointer to an edit of a request. */
type EditAt = EditPointer & { operationIndex: number }

/**
 * Adds the blocks of a Markdown text at an end of the document or of a section, beside a block or in it, and returns
 * their ids. A list that is added to a list becomes items of that list, and rows become rows of the table around them.
 * Refuses with 404 `section_not_found`, and with 422 `block_not_found`, `invalid_position` and whatever makes the text
 * no content of a body, or an id in it one that is in use.
 */
export function addMarkdown(adding: Adding, edit: AddEdit, pointer: EditAt): string[] {
  const gap = gapFor(adding.body, edit, pointer)
  const parent = gap.parent === null ? null : nodeAt(adding.body.block(gap.parent.position), gap.parent.path)
  const inMarkdown = pointerAt(pointer, '/markdown')
  const markdown = parent?.type === 'table' ? withHeader(edit.markdown, parent) : edit.markdown
  const read = blocksOf(adding, { markdown, pointer: inMarkdown, replaced: null })
  const blocks = parent === null ? read : read.flatMap((block) => partsFor(parent.type, block))
  if (blocks.length === 0) return []
  putAt(adding.body, gap, { count: 0, blocks, pointer: inMarkdown })
  return blocks.map((block) => block.attrs.id)
}

/**
 * Replaces a block by the blocks of a Markdown text, and returns their ids. The first of them keeps the id of the
 * block, and unchanged blocks inside of it keep theirs, as below an anchor. Refuses as `addMarkdown` does, and with 422
 * `invalid_node` a text without any block.
 */
export function replaceByMarkdown(adding: Adding, edit: ReplaceBlockEdit, pointer: EditAt): string[] {
  const { body } = adding
  const blockPath = locate(body, edit.block_id, pointerAt(pointer, '/block_id'))
  const inMarkdown = pointerAt(pointer, '/markdown')
  const top = body.block(blockPath.position)
  const replaced = { id: edit.block_id, top, ids: blockIds(nodeAt(top, blockPath.path)) }
  const blocks = blocksOf(adding, { markdown: edit.markdown, pointer: inMarkdown, replaced })
  if (blocks.length === 0) {
    const problem = 'the Markdown has no block; delete_block deletes the block'
    throw refuseNode({ ...inMarkdown, blockId: edit.block_id }, problem)
  }
  putAt(body, gapOf(blockPath), { count: 1, blocks, pointer: inMarkdown })
  return blocks.map((block) => block.attrs.id)
}

function gapFor(body: BlockLines, edit: AddEdit, pointer: EditAt): Gap {
  if (edit.op === 'insert') {
    const place = insertPlaces.find((name) => edit[name] !== undefined) ?? 'after_block_id'
    const gap = gapAt(body, { [place]: edit[place] }, pointerAt(pointer, `/${place}`))
    // A row holds nothing that Markdown can add, so beside a cell is beside its row.
    if (gap.parent === null || nodeAt(body.block(gap.parent.position), gap.parent.path).type !== 'tableRow') return gap
    const { parent, index } = gapOf(gap.parent)
    return { parent, index: index + (place === 'before_block_id' ? 0 : 1) }
  }
  const { op, section } = edit
  if (section === undefined) return gapAt(body, op === 'append' ? { document_end: true } : { document_start: true })
  const heading = headingOf(body, section)
  if (heading === null) {
    throw new Refusal('section_not_found', {
      details: { id: section, field: 'section', index: pointer.operationIndex },
    })
  }
  return { parent: null, index: op === 'append' ? endOfSection(body, heading) : heading + 1 }
}

const itemTypes: Record<string, string> = { bulletList: 'listItem', orderedList: 'listItem', taskList: 'taskItem' }
const delimiters: Record<string, string> = { left: ':-', center: ':-:', right: '-:' }

// The items of a list for another list, the rows of a table for another table, and any other block as it is. A task
// would lose its state in a list of another kind.
function partsFor(parentType: string, block: BlockNode): BlockNode[] {
  const children = (block.content ?? []) as BlockNode[]
  if (parentType === 'table' && block.type === 'table') return children.length > 1 ? children.slice(1) : children
  const [wanted, given] = [itemTypes[parentType], itemTypes[block.type]]
  if (wanted === undefined || given === undefined) return [block]
  if (wanted === given) return children
  if (wanted === 'listItem') return [block]
  return children.map((item) => ({ ...item, attrs: { ...item.attrs, checked: false }, type: wanted }))
}

// Markdown has no rows without a header. So rows get one with the columns of the table that they are added to.
function withHeader(markdown: string, table: BlockNode): string {
  const lines = markdown.trimStart().split('\n')
  const [first = '', second = ''] = lines
  const hasHeader = second.includes('-') && /^[\s|:-]+$/.test(second)
  const rows = lines.slice(hasHeader ? 2 : 0).join('\n')
  if (!first.startsWith('|') || rows.trim() === '') return markdown
  const aligned = table.content?.[0]?.content?.map((cell) => String(cell.content?.[0]?.attrs?.textAlign)) ?? []
  const columns = aligned.map((align) => delimiters[align] ?? '-')
  return `|${' |'.repeat(columns.length)}\n|${columns.join('|')}|\n${rows}`
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

/** A Markdown text, and the block that it replaces within its top-level block; null for a text that is added. */
type Source = {
  markdown: string
  pointer: EditPointer
  replaced: { id: string; top: BlockNode; ids: readonly string[] } | null
}

function blocksOf(adding: Adding, { markdown, pointer, replaced }: Source): BlockNode[] {
  const { body, limits } = adding
  const { path, operationIndex } = pointer
  const parsed = parseMarkdown({ markdown, path, ...limits })
  const isEmpty = parsed.pieces.every(({ blocks }) => blocks.length === 0)
  const stored = new StoredBlocks(replaced === null ? [] : documentToLines({ type: 'doc', content: [replaced.top] }))
  const read = replaced === null ? parsed : anchoredAt(parsed, replaced.id)
  const fresh = toDocument(assemble(read, { stored, path, ...limits }))
  requireFree(body, fresh.givenIds, { pointer, own: new Set(replaced?.ids) })
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

// Reads the first block of a text as if the anchor of the id stood above it, unless the text itself has this anchor.
function anchoredAt(parsed: Parsed, id: string): Parsed {
  const [first, ...rest] = parsed.pieces
  if (first === undefined || first.anchor !== null || anchorsOf(parsed.pieces).some((anchor) => anchor.id === id)) {
    return parsed
  }
  return { ...parsed, pieces: [{ ...first, anchor: { id, line: 1 } }, ...rest] }
}
