import { type BlockLines, nodeAt } from './block-lines.ts'
import { blockHash } from './canonical.ts'
import type { Attrs, BlockNode } from './document.ts'
import { isBlockType } from './nodes.ts'
import { HeadingPaths } from './outline.ts'
import { plainText } from './text.ts'

/**
 * A description of a block that holds all members of the API's Block which the body alone determines. The caller adds
 * the id of the document, the URI and the version.
 */
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

/**
 * Describes the block of an id, or returns null when the body has no such block. A caller that describes many blocks
 * passes the same `paths` to each call, so that heading paths are computed once.
 */
export function describeBlock(
  body: BlockLines,
  id: string,
  paths: HeadingPaths = new HeadingPaths(body),
): BlockDescription | null {
  const found = body.find(id)
  if (found === null) return null
  const { position, path } = found
  const top = body.block(position)
  const parent = path.length === 0 ? null : nodeAt(top, path.slice(0, -1)).attrs.id
  return describe({ node: nodeAt(top, path), parent, depth: path.length }, { position, path: paths.at(position) })
}

/**
 * Lists the top-level blocks in order or, with `recursive`, the blocks of all levels, depth first. The first `from`
 * blocks are skipped. A block is described only when the caller asks for it, because each description repeats the whole
 * node with its nested blocks. All descriptions together can be many times as large as the body.
 */
export function* listBlocks(
  body: BlockLines,
  options: { recursive: boolean; from?: number },
): Generator<BlockDescription> {
  const { recursive, from = 0 } = options
  const paths = new HeadingPaths(body)
  // Nested blocks would shift the list: only without them is an index in the list also a position of a top-level block.
  let index = recursive ? 0 : from
  for (let position = index; position < body.length; position++) {
    const top = body.block(position)
    for (const found of recursive ? withNested(top) : [{ node: top, parent: null, depth: 0 }]) {
      if (index >= from) yield describe(found, { position, path: paths.at(position) })
      index += 1
    }
  }
}

/**
 * The hash of the block of an id, or null when the body has no such block. Preconditions compare the hash with
 * `If-Match`.
 */
export function currentBlockHash(body: BlockLines, id: string): string | null {
  const found = body.find(id)
  return found === null ? null : blockHash(nodeAt(body.block(found.position), found.path))
}

// A block within its top-level block; `parent` is the id of the block directly around the block.
type Found = { node: BlockNode; parent: string | null; depth: number }

// Returns a block and all blocks in it, depth first.
function withNested(top: BlockNode): Found[] {
  const found: Found[] = []
  const visit = (node: BlockNode, parent: string | null, depth: number): void => {
    found.push({ node, parent, depth })
    for (const child of node.content ?? []) {
      if (isBlockType(child.type)) visit(child as BlockNode, node.attrs.id, depth + 1)
    }
  }
  visit(top, null, 0)
  return found
}

function describe({ node, parent, depth }: Found, top: { position: number; path: string[] }): BlockDescription {
  return {
    block_id: node.attrs.id,
    type: node.type,
    attrs: node.attrs,
    text: plainText(node),
    node,
    position: top.position,
    depth,
    parent_block_id: parent,
    heading_path: top.path,
    hash: blockHash(node),
  }
}
