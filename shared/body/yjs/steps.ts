import * as Y from 'yjs'
import type { Slices } from '../../computations/slices.ts'
import type { BodyNode } from '../document.ts'
import { writeNode } from './encoding.ts'
import { itemOf, structCounts } from './yjs-internals.ts'

/**
 * A step that writes. The weight tells how many blocks it writes. `splices` tells how often Yjs puts structs into the
 * middle of an array, or takes them out of it.
 */
export type Step = { weight: number; splices: number; run: () => void }

/**
 * An edit of the live children of a parent: the positions of the children that go, and the blocks that come behind a
 * position (-1 for the start).
 */
export type Edit = { removals: Set<number>; insertions: Map<number, BodyNode[]> }

/** Adds a block to an edit, behind the blocks that come at the same position. */
export function insertAfter(edit: Edit, { anchor, node }: { anchor: number; node: BodyNode }): void {
  const nodes = edit.insertions.get(anchor)
  if (nodes) nodes.push(node)
  else edit.insertions.set(anchor, [node])
}

/**
 * Runs planned steps in one Yjs transaction. Steps of more than `mostWeight` blocks are cut into several transactions,
 * each with an update of its own. In a large document a transaction has fewer splices than in a small document.
 */
export function* runSteps(fragment: Y.XmlFragment, steps: readonly Step[]): Slices<void> {
  const { doc } = fragment
  if (!doc) throw new Error('The fragment is not part of a Y document')
  let next = 0
  while (next < steps.length) {
    const weightOfSplice = Math.max(0, ...structCounts(doc)) / structsOfBlock
    doc.transact(() => {
      for (let weight = 0; weight < mostWeight && next < steps.length; next++) {
        const step = steps[next] as Step
        step.run()
        weight += step.weight + step.splices * weightOfSplice
      }
    })
    yield
  }
}

// The number of blocks that one transaction writes. It is more than a batch of the API changes as a rule, and takes
// about ten milliseconds.
const mostWeight = 256
// The number of structs that Yjs moves in an array while it writes one block. Where Yjs splits or merges structs in the
// middle of its array, it moves all structs behind them.
const structsOfBlock = 40_000
// The number of blocks that one step inserts or removes. A step is not cut.
const blocksOfStep = 16
/**
 * The splices of one removed block, and those of one edited or formatted range of text, which is split at both ends.
 * Yjs merges what is deleted when the transaction ends.
 */
export const splices = { block: 2, range: 3 }

/**
 * The steps of an edit. Steps run from right to left, so that the remaining positions stay valid. Blocks are inserted
 * before others are removed. So when a large edit becomes several updates, a block that moves is never missing.
 */
export function editSteps(parent: Y.XmlFragment, live: readonly unknown[], { removals, insertions }: Edit): Step[] {
  const steps: Step[] = []
  const anchors = [...insertions.keys()].sort((a, b) => b - a)
  for (const anchor of anchors) {
    const nodes = insertions.get(anchor) ?? []
    // The last blocks come first, so that all are inserted at the same index.
    for (let end = nodes.length; end > 0; end -= blocksOfStep) {
      const part = nodes.slice(Math.max(end - blocksOfStep, 0), end)
      const run = () => insertAt(parent, { index: anchor + 1, before: live[anchor] }, part.map(writeNode))
      steps.push({ weight: part.length, splices: 0, run })
    }
  }
  let inserted = [...insertions.values()].reduce((sum, nodes) => sum + nodes.length, 0)
  let next = 0
  for (const position of [...removals].sort((a, b) => b - a)) {
    for (let anchor = anchors[next]; anchor !== undefined && anchor >= position; anchor = anchors[++next]) {
      inserted -= insertions.get(anchor)?.length ?? 0
    }
    const index = position + inserted
    const run = () => removeAt(parent, { index, child: live[position] })
    steps.push({ weight: 0.25, splices: splices.block, run })
  }
  return steps
}

// Yjs finds a child of a fragment by its index only in a walk over all children, and over all that were deleted. So a
// child is found by its type. A client can put values into a fragment that have no type.

function insertAt(
  parent: Y.XmlFragment,
  { index, before }: { index: number; before: unknown },
  elements: Y.XmlElement[],
): void {
  const item = itemOf(before)
  if (item) parent.insertAfter(item, elements)
  else parent.insert(index, elements)
}

function removeAt(parent: Y.XmlFragment, { index, child }: { index: number; child: unknown }): void {
  const item = itemOf(child)
  if (item && parent.doc) Y.transact(parent.doc, (transaction) => item.delete(transaction))
  else parent.delete(index, 1)
}
