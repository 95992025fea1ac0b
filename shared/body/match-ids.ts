import { atOnce } from '../computations/slices.ts'
import { newId } from '../schema/ids.ts'
import { documentToLines, linesToDocument } from './canonical.ts'
import type { BlockNode, BodyNode } from './document.ts'
import { isBlockType } from './nodes.ts'
import { blockIdOf, matchContents, pairSingles, shapeOf } from './yjs/align.ts'

/** What `matchIds` needs to know besides the new blocks. */
export type IdMatching = {
  /** The stored top-level blocks. */
  stored: readonly BlockNode[]
  /** The ids that new blocks have from the request, and that therefore stay. */
  named: ReadonlySet<string>
  /** What makes two blocks equal; by default everything but ids. */
  shape?: (node: BodyNode) => unknown
  /** True if a block continues only a block that says the same or nearly the same. */
  alikeOnly?: boolean
}

/**
 * Gives new blocks the ids of the stored blocks that they continue, at every depth (api/guide/writes.md#identity).
 * Changes nothing but ids of `blocks`. Returns the ids that were replaced, with the ids that replaced them.
 */
export function matchIds(
  blocks: readonly BlockNode[],
  { stored, named, shape = shapeOf, alikeOnly = false }: IdMatching,
) {
  const replaced = new Map<string, string>()
  const used = new Set(named)
  const open = new Set(withNested(blocks).filter(({ attrs }) => !named.has(attrs.id)))
  const storedById = new Map(withNested(stored).map((block) => [block.attrs.id, block]))

  const give = (block: BlockNode, id: string): void => {
    if (block.attrs.id !== id) replaced.set(block.attrs.id, id)
    block.attrs.id = id
    used.add(id)
    open.delete(block)
  }
  const isNew = (node: BodyNode) => open.has(node as BlockNode)
  const isGone = (node: BodyNode) => !used.has(blockIdOf(node) ?? '')

  const align = (from: readonly BlockNode[], to: readonly BlockNode[]): void => {
    const places = new Map(from.map(({ attrs }, index) => [attrs.id, index]))
    const partners = to.map((block) => (isNew(block) ? -1 : (places.get(block.attrs.id) ?? -1)))
    const [olds, news] = [indicesOf(from, isGone), indicesOf(to, isNew)]
    for (const { old, next } of atOnce(matchContents({ from, to, olds, news, shape, maxWords }))) partners[next] = old
    if (!alikeOnly) pairSingles({ from, to, partners, presence: { isNew, isGone } })
    for (const [index, block] of to.entries()) {
      const old = isNew(block) ? from[partners[index] ?? -1] : storedById.get(block.attrs.id)
      if (old === undefined) continue
      if (isNew(block)) give(block, old.attrs.id)
      align(blocksIn(old), blocksIn(block))
    }
  }
  align(stored, blocks)

  // Equal blocks have equal blocks in them.
  const giveAll = (block: BlockNode, old: BlockNode): void => {
    if (isNew(block) && isGone(old)) give(block, old.attrs.id)
    for (const [index, child] of blocksIn(block).entries()) giveAll(child, blocksIn(old)[index] as BlockNode)
  }
  const left = Map.groupBy(withNested(stored).filter(isGone).reverse(), (block) => JSON.stringify(shape(block)))
  for (const block of open.size > 0 && left.size > 0 ? withNested(blocks) : []) {
    const equals = isNew(block) ? left.get(JSON.stringify(shape(block))) : undefined
    let old = equals?.pop()
    while (old !== undefined && !isGone(old)) old = equals?.pop()
    if (old !== undefined) giveAll(block, old)
  }

  // A block that continues no stored block may have got the id of one by its place in an anchored block.
  for (const block of open) give(block, used.has(block.attrs.id) ? newId('block') : block.attrs.id)
  return replaced
}

/**
 * The stored lines of an old body, in which the blocks that are gone from the new body have the ids of the new blocks
 * that say the same or nearly the same. So a difference shows an edit where a write has replaced ids.
 */
export function linesWithIdsOf(lines: readonly string[], next: readonly string[]): readonly string[] {
  const [from, to] = [linesToDocument(lines).content, linesToDocument(next).content]
  const ids = new Set(withNested(to).map(({ attrs }) => attrs.id))
  const named = new Set(withNested(from).flatMap(({ attrs }) => (ids.has(attrs.id) ? [attrs.id] : [])))
  if (named.size === ids.size) return lines
  matchIds(from, { stored: to, named, alikeOnly: true })
  return documentToLines({ type: 'doc', content: from })
}

// The most words of a body that are compared; a body of 5 MB has about 800,000.
const maxWords = 1_000_000

function indicesOf(blocks: readonly BlockNode[], test: (block: BlockNode) => boolean): number[] {
  return blocks.flatMap((block, index) => (test(block) ? [index] : []))
}

function blocksIn({ content = [] }: BodyNode): BlockNode[] {
  return content.filter((child): child is BlockNode => isBlockType(child.type))
}

/** The blocks, each followed by those in it. */
export function withNested(blocks: readonly BlockNode[]): BlockNode[] {
  return blocks.flatMap((block) => [block, ...withNested(blocksIn(block))])
}
