import type { BodyNode } from '../document.ts'
import { isBlockType } from '../nodes.ts'
import { matchSequences } from '../sequence.ts'
import { shapeOf } from './align.ts'
import { idOrNull, type Repair } from './repair-nodes.ts'

/** `isFree` tells whether no block has an id. `repairs` gets a repair for each id that is given back. */
export type Restoring = { isFree: (id: string) => boolean; repairs: Repair[] }

/**
 * Gives blocks back the ids that they lost. An editor that does not know the attribute `id` removes it from every node
 * around the text that somebody types. `formerLine` is the top-level block before. A nested block is the block at the
 * same place before; where blocks came or went, it is the block with the same content. Returns the node itself when it
 * lacks no id.
 */
export function restoreIds(node: BodyNode, formerLine: string, restoring: Restoring): BodyNode {
  return lacksIds(node) ? restored(node, JSON.parse(formerLine) as BodyNode, restoring) : node
}

function restored(node: BodyNode, former: BodyNode, restoring: Restoring): BodyNode {
  if (!lacksIds(node) || node.type !== former.type) return node
  const id = idOrNull(former)
  const isRestored = idOrNull(node) === null && id !== null && restoring.isFree(id)
  if (isRestored) restoring.repairs.push({ kind: 'id_restored', type: node.type, block_id: id })
  const partners = partnersOf(node.content ?? [], former.content ?? [])
  const content = node.content?.map((child, index) => {
    const partner = partners.get(index)
    return partner ? restored(child, partner, restoring) : child
  })
  return { ...node, ...(isRestored && { attrs: { ...node.attrs, id } }), ...(content && { content }) }
}

/** True if a block, or a block in it, has no id. */
function lacksIds(node: BodyNode): boolean {
  if (!isBlockType(node.type)) return false
  return node.attrs?.id === undefined || (node.content ?? []).some(lacksIds)
}

/** The former sibling of each sibling that has one. */
function partnersOf(nodes: readonly BodyNode[], formers: readonly BodyNode[]): Map<number, BodyNode> {
  const isSame = nodes.length === formers.length
  const matches = isSame ? [{ a: 0, b: 0, length: nodes.length }] : matchSequences(shapes(nodes), shapes(formers))
  const pairs = matches.flatMap(({ a, b, length }) =>
    Array.from({ length }, (_, offset) => [a + offset, formers[b + offset]] as const),
  )
  return new Map(pairs.flatMap(([index, former]) => (former ? [[index, former]] : [])))
}

function shapes(nodes: readonly BodyNode[]): string[] {
  return nodes.map((node) => JSON.stringify(shapeOf(node)))
}
