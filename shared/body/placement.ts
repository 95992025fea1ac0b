import { Refusal } from '../errors/errors.ts'
import { type BlockLines, type Location, nodeAt, withNodeAt } from './block-lines.ts'
import { maximumDepth } from './body-limits.ts'
import type { BlockNode, BodyNode } from './document.ts'
import { bodySchema } from './nodes.ts'
import { emptyParagraph } from './normalise.ts'
import { headingTitle } from './outline.ts'

/** Where inserted blocks go; exactly one member is set (specification 2.5), which the request schema sees to. */
export type Position = {
  document_start?: unknown
  document_end?: unknown
  before_block_id?: string
  after_block_id?: string
  parent_block_id?: string
  after_heading?: string
}

/** A gap between siblings: the parent (null for the document) and the index of the sibling behind the gap. */
export type Gap = { parent: Location | null; index: number }

/**
 * The gap that a position names. Refuses with 422 `block_not_found` or `heading_not_found`. The frontmatter stays
 * first: the start of the document is behind it.
 */
export function gapAt(body: BlockLines, position: Position): Gap {
  const name = (Object.keys(resolvers) as (keyof Position)[]).find((key) => position[key] !== undefined)
  if (name === undefined) throw new TypeError('a position names a gap')
  return resolvers[name](body, String(position[name]))
}

/** Where the block of an id is. Refuses with 422 `block_not_found`. */
export function locate(body: BlockLines, id: string): Location {
  const found = body.find(id)
  if (found !== null) return found
  throw new Refusal('block_not_found', {
    status: 422,
    details: { path: '', reason: 'there is no such block', block_id: id },
  })
}

/** The parent of a located block, null for the document, and the block's index in it. */
export function gapOf({ position, path }: Location): Gap {
  if (path.length === 0) return { parent: null, index: position }
  return { parent: { position, path: path.slice(0, -1) }, index: path.at(-1) as number }
}

/** Puts blocks in place of `count` siblings at a gap. Refuses with 422 `invalid_position` what may not stand there. */
export function putAt(body: BlockLines, { parent, index }: Gap, change: { count: number; blocks: BlockNode[] }): void {
  const { count, blocks } = change
  requireDepth(blocks, parent === null ? 0 : parent.path.length + 1)
  if (parent === null) {
    requireTopLevel(body, index, change)
    body.splice(index, count, blocks)
    return
  }
  const top = body.block(parent.position)
  const node = nodeAt(top, parent.path)
  const content = [...(node.content ?? [])]
  content.splice(index, count, ...blocks)
  if (!isContentOf(node.type, content)) throw misplaced(`${names(blocks)} may not stand there in a ${node.type}`, node)
  body.splice(parent.position, 1, [withNodeAt(top, parent.path, { attrs: node.attrs, content, type: node.type })])
}

/**
 * Takes a block out. Ancestors that it leaves empty go with it, but a table cell and the content of `details` keep an
 * empty paragraph, as does an item that would no longer begin with one, and a document. Refuses with 422
 * `invalid_position` when what is left could not stand (a `details` without its summary).
 */
export function takeOut(body: BlockLines, location: Location): void {
  const { parent, index } = gapOf(location)
  if (parent === null) {
    body.splice(index, 1, body.length === 1 ? [emptyParagraph()] : [])
    return
  }
  const top = body.block(parent.position)
  const node = nodeAt(top, parent.path)
  const left = (node.content ?? []).filter((_, at) => at !== index)
  if (left.length === 0 && !keepsParagraph.has(node.type)) {
    takeOut(body, parent)
    return
  }
  const content = [left, [emptyParagraph(), ...left]].find((candidate) => isContentOf(node.type, candidate))
  if (content === undefined) throw misplaced(`a ${node.type} cannot do without this block`, node)
  body.splice(parent.position, 1, [withNodeAt(top, parent.path, { attrs: node.attrs, content, type: node.type })])
}

const keepsParagraph = new Set(['tableCell', 'tableHeader', 'detailsContent'])

const resolvers: Record<keyof Position, (body: BlockLines, value: string) => Gap> = {
  document_start: (body) => ({ parent: null, index: hasFrontmatter(body) ? 1 : 0 }),
  document_end: (body) => ({ parent: null, index: body.length }),
  before_block_id: (body, id) => gapOf(locate(body, id)),
  after_block_id: (body, id) => {
    const { parent, index } = gapOf(locate(body, id))
    return { parent, index: index + 1 }
  },
  parent_block_id: (body, id) => {
    const parent = locate(body, id)
    const node = nodeAt(body.block(parent.position), parent.path)
    return { parent, index: node.content?.length ?? 0 }
  },
  after_heading: (body, heading) => ({ parent: null, index: findHeading(body, heading) + 1 }),
}

// An exact match, ignoring case and extra white space, comes before the first heading that contains the text.
function findHeading(body: BlockLines, wanted: string): number {
  const text = comparable(wanted)
  let containing = -1
  for (let position = 0; position < body.length; position++) {
    if (!body.isHeading(position)) continue
    const title = comparable(headingTitle(body.block(position)))
    if (title === text) return position
    if (containing === -1 && text !== '' && title.includes(text)) containing = position
  }
  if (containing === -1) throw new Refusal('heading_not_found', { details: { heading: wanted } })
  return containing
}

function comparable(text: string): string {
  return text.replace(/\s+/g, ' ').trim().toLowerCase()
}

function hasFrontmatter(body: BlockLines): boolean {
  return body.block(0).type === 'frontmatter'
}

function requireTopLevel(
  body: BlockLines,
  index: number,
  { count, blocks }: { count: number; blocks: BlockNode[] },
): void {
  if (!isContentOf('doc', blocks)) throw misplaced(`${names(blocks)} may not stand at the top level`)
  const isStart = index === 0
  if (blocks.slice(isStart ? 1 : 0).some((block) => block.type === 'frontmatter')) {
    throw misplaced('frontmatter may only be the first block of a document')
  }
  const pushesFrontmatter = isStart && count === 0 && hasFrontmatter(body)
  if (pushesFrontmatter) throw misplaced('frontmatter has to stay the first block of a document')
}

function requireDepth(blocks: BlockNode[], above: number): void {
  if (above + Math.max(0, ...blocks.map(height)) > maximumDepth) {
    throw misplaced(`blocks nest deeper than ${maximumDepth} levels there`)
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
    // Frontmatter is in the block group, but only a document may open with it.
    if (node.type === 'frontmatter' && type !== 'doc') return false
    match = match.matchType(child)
  }
  return match?.validEnd === true
}

function names(blocks: BlockNode[]): string {
  return [...new Set(blocks.map((block) => block.type))].join(', ')
}

function misplaced(reason: string, parent?: BlockNode): Refusal {
  const details = { path: '', reason, ...(parent && { block_id: parent.attrs.id }) }
  return new Refusal('invalid_position', { details })
}
