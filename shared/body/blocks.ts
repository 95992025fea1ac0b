import { type BlockLines, nodeAt } from './block-lines.ts'
import { blockHash } from './canonical.ts'
import type { Attrs, BlockNode } from './document.ts'
import { isBlockType } from './nodes.ts'
import { headingPath } from './outline.ts'
import { plainText } from './text.ts'

/** The members of a Block (decisions 2.5) that follow from the body; document id, URI and version are the caller's. */
export type BlockDescription = {
  block_id: string
  type: string
  attrs: Attrs
  text: string
  node: BlockNode
  position: number
  depth: number
  parent_block_id: string | null
  heading_path: string[]
  hash: string
}

/** The block of an id, or null when the body has none. */
export function describeBlock(body: BlockLines, id: string): BlockDescription | null {
  const found = body.find(id)
  if (found === null) return null
  const { position, path } = found
  const top = body.block(position)
  const parent = path.length === 0 ? null : nodeAt(top, path.slice(0, -1)).attrs.id
  const place = { position, parent, depth: path.length, heading_path: headingPathAt(body, position) }
  return describe(nodeAt(top, path), place)
}

/** The top-level blocks in order or, with `recursive`, the blocks of all levels depth-first in document order. */
export function listBlocks(body: BlockLines, recursive: boolean): BlockDescription[] {
  const result: BlockDescription[] = []
  const headings: BlockNode[] = []
  let heading_path: string[] = []
  for (let position = 0; position < body.length; position++) {
    const block = body.block(position)
    if (block.type === 'heading') {
      headings.push(block)
      heading_path = headingPath(headings)
    }
    visit(block, { position, parent: null, depth: 0, heading_path }, { recursive, result })
  }
  return result
}

/** The hash of the block of an id as it is now, or null when the body has none; guards compare it with `If-Match`. */
export function currentBlockHash(body: BlockLines, id: string): string | null {
  const found = body.find(id)
  return found === null ? null : blockHash(nodeAt(body.block(found.position), found.path))
}

type PlaceInBody = { position: number; parent: string | null; depth: number; heading_path: string[] }
type Listing = { recursive: boolean; result: BlockDescription[] }

function visit(block: BlockNode, place: PlaceInBody, listing: Listing): void {
  listing.result.push(describe(block, place))
  if (!listing.recursive) return
  const inner = { ...place, parent: block.attrs.id, depth: place.depth + 1 }
  for (const child of block.content ?? []) {
    if (isBlockType(child.type)) visit(child as BlockNode, inner, listing)
  }
}

function describe(node: BlockNode, { position, parent, depth, heading_path }: PlaceInBody): BlockDescription {
  return {
    block_id: node.attrs.id,
    type: node.type,
    attrs: node.attrs,
    text: plainText(node),
    node,
    position,
    depth,
    parent_block_id: parent,
    heading_path,
    hash: blockHash(node),
  }
}

function headingPathAt(body: BlockLines, position: number): string[] {
  const headings: BlockNode[] = []
  for (let index = 0; index <= position; index++) if (body.isHeading(index)) headings.push(body.block(index))
  return headingPath(headings)
}
