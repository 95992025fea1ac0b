import { Refusal } from '../errors/errors.ts'
import { type BlockLines, type BlockPath, nodeAt, withNodeAt } from './block-lines.ts'
import { maximumDepth } from './body-limits.ts'
import type { BlockNode, BodyNode } from './document.ts'
import { bodySchema } from './nodes.ts'
import { emptyParagraph } from './normalise.ts'
import { refuse } from './normalise-state.ts'
import { headingTitle } from './outline.ts'

/**
 * A pointer to the member of the request that a refusal names. `operationIndex` is set in a batch. `isKnown` tells
 * whether the caller knows a block id. A refusal names no other block ids.
 */
export type EditPointer = { path: string; operationIndex?: number; isKnown: (blockId: string) => boolean }

// The pointer of an edit that the service makes by itself, without a request.
const unasked: EditPointer = { path: '', isKnown: () => true }

/** Extends a pointer by the name of a member inside the member that it names. */
export function pointerAt(pointer: EditPointer, member: `/${string}`): EditPointer {
  return { ...pointer, path: pointer.path + member }
}

/** A position that blocks are inserted at. The schema of the request ensures that exactly one member is set. */
export type Position = {
  document_start?: unknown
  document_end?: unknown
  before_block_id?: string
  after_block_id?: string
  parent_block_id?: string
  after_heading?: string
}

/**
 * A gap between siblings that inserted blocks go into: the parent (null for the document), and the index of the sibling
 * behind the gap.
 */
export type Gap = { parent: BlockPath | null; index: number }

type Change = { count: number; blocks: BlockNode[]; pointer?: EditPointer }

// The parents that hold an empty paragraph rather than nothing.
const keepsParagraph = new Set(['tableCell', 'tableHeader', 'detailsContent'])

/**
 * The gap that a position names. The start of a document is behind its frontmatter, which stays first. Refuses with
 * 422 `block_not_found` or `heading_not_found`.
 */
export function gapAt(body: BlockLines, position: Position, pointer = unasked): Gap {
  const name = (Object.keys(resolvers) as (keyof Position)[]).find((key) => position[key] !== undefined)
  if (name === undefined) throw new TypeError('a position names a gap')
  return resolvers[name](body, String(position[name]), pointer)
}

/** The path of the block of an id. Refuses with 422 `block_not_found`. */
export function locate(body: BlockLines, id: string, pointer = unasked): BlockPath {
  const found = body.find(id)
  if (found !== null) return found
  throw refuse('block_not_found', { ...pointer, blockId: id }, 'there is no such block')
}

/** The gap before a block: its parent, null for the document, and its index among the parent's children. */
export function gapOf({ position, path }: BlockPath): Gap {
  if (path.length === 0) return { parent: null, index: position }
  return { parent: { position, path: path.slice(0, -1) }, index: path.at(-1) as number }
}

/**
 * Replaces the `count` siblings behind a gap by blocks. Refuses with 422 `invalid_position` blocks that the parent may
 * not hold at this index, and blocks that would nest too deep.
 */
export function putAt(body: BlockLines, { parent, index }: Gap, change: Change): void {
  const { count, blocks, pointer = unasked } = change
  requireDepth(change, parent === null ? 0 : parent.path.length + 1)
  if (parent === null) {
    requireTopLevel(body, index, change)
    body.splice(index, count, blocks)
    return
  }
  const top = body.block(parent.position)
  const node = nodeAt(top, parent.path)
  const content = [...(node.content ?? [])]
  content.splice(index, count, ...blocks)
  if (!isContentOf(node.type, content)) {
    throw misplaced(`${names(blocks)} may not stand there in a ${node.type}`, pointer, node)
  }
  body.splice(parent.position, 1, [withNodeAt(top, parent.path, { attrs: node.attrs, content, type: node.type })])
}

/**
 * Takes a block out of a body. Ancestors that the block leaves empty go with it. An empty paragraph stays in a
 * document, in a table cell and in the content of `details`. An item that would no longer begin with a paragraph gets
 * an empty paragraph. Refuses with 422 `invalid_position` when the parent cannot do without the block, such as
 * `details` without its summary.
 */
export function takeOut(body: BlockLines, blockPath: BlockPath, pointer = unasked): void {
  const { parent, index } = gapOf(blockPath)
  if (parent === null) {
    body.splice(index, 1, body.length === 1 ? [emptyParagraph()] : [])
    return
  }
  const top = body.block(parent.position)
  const node = nodeAt(top, parent.path)
  const left = (node.content ?? []).filter((_, at) => at !== index)
  if (left.length === 0 && !keepsParagraph.has(node.type)) {
    takeOut(body, parent, pointer)
    return
  }
  const content = [left, [emptyParagraph(), ...left]].find((candidate) => isContentOf(node.type, candidate))
  if (content === undefined) throw misplaced(`a ${node.type} cannot do without this block`, pointer, node)
  body.splice(parent.position, 1, [withNodeAt(top, parent.path, { attrs: node.attrs, content, type: node.type })])
}

const resolvers: Record<keyof Position, (body: BlockLines, value: string, pointer: EditPointer) => Gap> = {
  document_start: (body) => ({ parent: null, index: hasFrontmatter(body) ? 1 : 0 }),
  document_end: (body) => ({ parent: null, index: body.length }),
  before_block_id: (body, id, pointer) => gapOf(locate(body, id, pointer)),
  after_block_id: (body, id, pointer) => {
    const { parent, index } = gapOf(locate(body, id, pointer))
    return { parent, index: index + 1 }
  },
  parent_block_id: (body, id, pointer) => {
    const parent = locate(body, id, pointer)
    const node = nodeAt(body.block(parent.position), parent.path)
    return { parent, index: node.content?.length ?? 0 }
  },
  after_heading: (body, heading, pointer) => ({ parent: null, index: findHeading(body, heading, pointer) + 1 }),
}

// An exact match, ignoring case and extra white space, beats the first heading that contains the text.
function findHeading(body: BlockLines, wanted: string, { operationIndex }: EditPointer): number {
  const text = comparable(wanted)
  let containing = -1
  for (let position = 0; position < body.length; position++) {
    if (!body.isHeading(position)) continue
    const title = comparable(headingTitle(body.block(position)))
    if (title === text) return position
    if (containing === -1 && text !== '' && title.includes(text)) containing = position
  }
  if (containing === -1) {
    const details = { heading: wanted, ...(operationIndex !== undefined && { operation_index: operationIndex }) }
    throw new Refusal('heading_not_found', { details })
  }
  return containing
}

function comparable(text: string): string {
  return text.replace(/\s+/g, ' ').trim().toLowerCase()
}

function hasFrontmatter(body: BlockLines): boolean {
  return body.block(0).type === 'frontmatter'
}

function requireTopLevel(body: BlockLines, index: number, { count, blocks, pointer = unasked }: Change): void {
  if (!isContentOf('doc', blocks)) throw misplaced(`${names(blocks)} may not stand at the top level`, pointer)
  const isStart = index === 0
  if (blocks.slice(isStart ? 1 : 0).some((block) => block.type === 'frontmatter')) {
    throw misplaced('frontmatter may only be the first block of a document', pointer)
  }
  const pushesFrontmatter = isStart && count === 0 && hasFrontmatter(body)
  if (pushesFrontmatter) throw misplaced('frontmatter has to stay the first block of a document', pointer)
}

function requireDepth({ blocks, pointer = unasked }: Change, above: number): void {
  if (above + Math.max(0, ...blocks.map(height)) > maximumDepth) {
    throw misplaced(`blocks nest deeper than ${maximumDepth} levels there`, pointer)
  }
}

function height(node: BodyNode): number {
  if (node.attrs === undefined || node.content === undefined) return node.attrs === undefined ? 0 : 1
  return 1 + Math.max(0, ...node.content.map(height))
}

function isContentOf(type: string, content: BodyNode[]): boolean {
  let match = bodySchema.nodes[type]?.contentMatch ?? null
  for (const node of content) {
    const child = bodySchema.nodes[node.type]
    if (match === null || child === undefined) return false
    // The schema counts frontmatter among the blocks, but only a document may hold frontmatter, at its start.
    if (node.type === 'frontmatter' && type !== 'doc') return false
    match = match.matchType(child)
  }
  return match?.validEnd === true
}

function names(blocks: BlockNode[]): string {
  return [...new Set(blocks.map((block) => block.type))].join(', ')
}

function misplaced(reason: string, pointer: EditPointer, parent?: BlockNode): Refusal {
  const blockId = parent !== undefined && pointer.isKnown(parent.attrs.id) ? parent.attrs.id : null
  return refuse('invalid_position', { ...pointer, blockId }, reason)
}
