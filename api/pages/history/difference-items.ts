import type { Static } from 'typebox'
import type { BlockNode } from '../../../shared/body/document.ts'
import type { BlockDifference } from '../../../shared/differences/schema.ts'

type Difference = Static<typeof BlockDifference>

/** A line of a difference as a reader sees it: a changed block, a block beside it, or blocks that are left out. */
export type DifferenceItem =
  | { kind: 'changed'; difference: Difference }
  | { kind: 'same'; block: BlockNode }
  | { kind: 'gap'; blocks: number }

/**
 * The items of a difference in the order of the new body, whose stored lines are `lines`. A removed block stands where
 * it stood in the old body. Each change has the block before and the block after it, and a gap tells the number of the
 * other blocks.
 */
export function differenceItems(differences: readonly Difference[], lines: readonly string[]): DifferenceItem[] {
  const items = inOrder(differences, lines)
  const isNear = (index: number) => [index - 1, index + 1].some((beside) => typeof items[beside] === 'object')
  const shown: DifferenceItem[] = []
  for (const [index, item] of items.entries()) {
    const last = shown.at(-1)
    if (typeof item === 'object') shown.push({ kind: 'changed', difference: item })
    else if (isNear(index)) shown.push({ kind: 'same', block: JSON.parse(item) as BlockNode })
    else if (last?.kind === 'gap') last.blocks += 1
    else shown.push({ kind: 'gap', blocks: 1 })
  }
  return shown
}

// The differences, and between them the stored lines of the blocks that both bodies have in one order.
function inOrder(differences: readonly Difference[], lines: readonly string[]): (Difference | string)[] {
  const byNewPosition = new Map(differences.map((difference) => [difference.new_position, difference]))
  const removed = removedBlocks(differences)
  const items: (Difference | string)[] = []
  let same = 0
  let next = 0
  const addRemoved = (before: number) => {
    for (let gone = removed[next]; gone !== undefined; gone = removed[next]) {
      if (gone.behind > same || gone.position > before) return
      items.push(gone.difference)
      next += 1
    }
  }
  for (const [position, line] of lines.entries()) {
    const difference = byNewPosition.get(position)
    addRemoved(difference?.old_position ?? Number.POSITIVE_INFINITY)
    items.push(difference ?? line)
    if (difference === undefined) same += 1
  }
  addRemoved(Number.POSITIVE_INFINITY)
  return items
}

/** A removed block, its old position, and the number of unchanged blocks behind which it stood. */
type Removed = { difference: Difference; position: number; behind: number }

function removedBlocks(differences: readonly Difference[]): Removed[] {
  const old = differences
    .flatMap((difference) =>
      difference.old_position === null ? [] : [{ difference, position: difference.old_position }],
    )
    .toSorted((a, b) => a.position - b.position)
  return old
    .map(({ difference, position }, listedBefore) => ({ difference, position, behind: position - listedBefore }))
    .filter(({ difference }) => difference.op === 'removed')
}
