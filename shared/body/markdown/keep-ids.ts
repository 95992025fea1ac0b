import type { BlockNode, BodyNode } from '../document.ts'
import { isBlockType } from '../nodes.ts'
import { expressible } from './expressible.ts'

/**
 * Gives the blocks nested in an edited block the ids that their stored counterparts had: first where the content is
 * unchanged (the stored node then stays as it is, with what Markdown cannot say), then, between those, where type
 * and order match. Ids in `taken` are in use elsewhere; ids given out are added. Changes `block` in place.
 */
export function keepIds(block: BodyNode, old: BodyNode, taken: Set<string>): void {
  const before = blocksIn(old)
  const after = blocksIn(block)
  if (before.length === 0 || after.length === 0) return
  const pairs = matchUnchanged(before, after)
  let from = 0
  let oldFrom = 0
  for (const [oldIndex, index] of [...pairs, [before.length, after.length] as const]) {
    matchInOrder(before.slice(oldFrom, oldIndex), after.slice(from, index), taken)
    const kept = before[oldIndex]
    const fresh = after[index]
    if (kept !== undefined && fresh !== undefined) adopt(block, { kept, fresh, taken })
    oldFrom = oldIndex + 1
    from = index + 1
  }
}

type Adoption = { kept: BlockNode; fresh: BlockNode; taken: Set<string> }

function adopt(parent: BodyNode, { kept, fresh, taken }: Adoption): void {
  const ids = idsIn(kept)
  if (ids.some((id) => taken.has(id))) {
    keepOwnId(kept, fresh, taken)
    return
  }
  for (const id of ids) taken.add(id)
  const content = parent.content ?? []
  content[content.indexOf(fresh)] = kept
}

function keepOwnId(old: BlockNode, fresh: BlockNode, taken: Set<string>): void {
  if (!taken.has(old.attrs.id)) {
    fresh.attrs.id = old.attrs.id
    taken.add(old.attrs.id)
  }
  keepIds(fresh, old, taken)
}

function matchInOrder(before: BlockNode[], after: BlockNode[], taken: Set<string>): void {
  let next = 0
  for (const fresh of after) {
    const found = before.findIndex((old, index) => index >= next && old.type === fresh.type)
    if (found === -1) continue
    next = found + 1
    keepOwnId(before[found] as BlockNode, fresh, taken)
  }
}

// Equal ends are trimmed; between them a block is paired with the first later stored block of its content.
function matchUnchanged(before: BlockNode[], after: BlockNode[]): [number, number][] {
  const oldKeys = before.map(expressible)
  const newKeys = after.map(expressible)
  const pairs: [number, number][] = []
  let head = 0
  while (head < oldKeys.length && head < newKeys.length && oldKeys[head] === newKeys[head]) pairs.push([head, head++])
  let tail = 0
  const room = Math.min(oldKeys.length, newKeys.length) - head
  while (tail < room && oldKeys.at(-1 - tail) === newKeys.at(-1 - tail)) tail += 1
  const positions = positionsOf(oldKeys.slice(head, oldKeys.length - tail), head)
  let next = head
  for (let index = head; index < newKeys.length - tail; index++) {
    const found = positions.get(newKeys[index] as string)?.find((position) => position >= next)
    if (found === undefined) continue
    pairs.push([found, index])
    next = found + 1
  }
  for (let back = tail; back > 0; back--) pairs.push([oldKeys.length - back, newKeys.length - back])
  return pairs
}

function positionsOf(keys: string[], offset: number): Map<string, number[]> {
  const positions = new Map<string, number[]>()
  for (const [index, key] of keys.entries()) positions.set(key, [...(positions.get(key) ?? []), index + offset])
  return positions
}

function blocksIn(node: BodyNode): BlockNode[] {
  return (node.content ?? []).filter((child): child is BlockNode => isBlockType(child.type))
}

function idsIn(node: BlockNode): string[] {
  return [node.attrs.id, ...blocksIn(node).flatMap(idsIn)]
}
