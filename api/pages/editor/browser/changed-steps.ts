import { type Node as DocumentNode, Fragment, Slice } from '@tiptap/pm/model'
import { ReplaceAroundStep, ReplaceStep, type Step, Transform } from '@tiptap/pm/transform'
import { longestIncreasing } from '../../../../shared/body/sequence.ts'

/**
 * The steps that give a document another content. They touch only the nodes that differ, and where the text of a block
 * differs, only the letters that differ. Blocks are the same when they have the same id. A block whose type or
 * attributes differ keeps its content. Null when the schema forbids the content.
 */
export function stepsTo(content: Fragment, doc: DocumentNode): Step[] | null {
  const fine = new Transform(doc)
  const isDone = changes(content, { parent: doc, start: 0 }).every((step) => !fine.maybeStep(step).failed)
  if (isDone && fine.doc.content.eq(content)) return fine.steps
  const { head, tail } = equalEnds(doc.content, content)
  const [end, endAfter] = [doc.childCount - tail, content.childCount - tail]
  if (!doc.canReplace(head, end, content, head, endAfter)) return null
  return [replacement({ before: doc.content, after: content, start: 0 }, { head, end, endAfter })]
}

type Place = { parent: DocumentNode; start: number }
type Siblings = { before: Fragment; after: Fragment; start: number }
type Stretch = { head: number; end: number; headAfter?: number; endAfter: number }

// The last change comes first, so that the positions of all others stay as they are.
function changes(after: Fragment, { parent, start }: Place): Step[] {
  const before = parent.content
  if (before.eq(after)) return []
  if (parent.inlineContent) return lettersChanged(before, { content: after, start })
  const { head, tail } = equalEnds(before, after)
  const steps: Step[] = []
  let [end, endAfter] = [before.childCount - tail, after.childCount - tail]
  const cutAt = (index: number, indexAfter: number) => {
    const stretch = { head: index, end, headAfter: indexAfter, endAfter }
    const size = end - index
    const arePairs = size === endAfter - indexAfter && areAlike(before, after, stretch)
    for (let back = 1; arePairs && back <= size; back += 1) steps.push(...pairChanges(end - back, endAfter - back))
    if (!arePairs && (size > 0 || endAfter > indexAfter)) steps.push(replacement({ before, after, start }, stretch))
  }
  const pairChanges = (index: number, indexAfter: number) => {
    const position = start + sizeOf(before, 0, index)
    return nodeChanges(before.child(index), { node: after.child(indexAfter), position })
  }
  for (const [index, indexAfter] of sameBlocks(before, after, { head, end, endAfter }).reverse()) {
    cutAt(index + 1, indexAfter + 1)
    steps.push(...pairChanges(index, indexAfter))
    end = index
    endAfter = indexAfter
  }
  cutAt(head, head)
  return steps
}

function nodeChanges(old: DocumentNode, { node, position }: { node: DocumentNode; position: number }): Step[] {
  const end = position + old.nodeSize
  const keepsContent = !old.isLeaf && !node.isLeaf && (old.sameMarkup(node) || node.type.validContent(old.content))
  if (!keepsContent) return [new ReplaceStep(position, end, new Slice(Fragment.from(node), 0, 0))]
  const steps = changes(node.content, { parent: old, start: position + 1 })
  if (old.sameMarkup(node)) return steps
  const shell = new Slice(Fragment.from(node.copy(Fragment.empty)), 0, 0)
  return [new ReplaceAroundStep(position, end, position + 1, end - 1, shell, 1, true), ...steps]
}

// The pairs of siblings with the same id that also have the same order.
function sameBlocks(before: Fragment, after: Fragment, { head, end, endAfter }: Stretch): [number, number][] {
  const places = new Map<unknown, number>()
  for (let index = head; index < endAfter; index += 1) places.set(after.child(index).attrs['id'], index)
  const idOf = (index: number) => before.child(index).attrs['id']
  const found = Array.from({ length: end - head }, (_, index) =>
    idOf(head + index) ? (places.get(idOf(head + index)) ?? -1) : -1,
  )
  return longestIncreasing(found).map((index) => [head + index, found[index] ?? 0])
}

function areAlike(before: Fragment, after: Fragment, { head, end, headAfter = head }: Stretch): boolean {
  for (let index = head; index < end; index += 1)
    if (before.child(index).type !== after.child(headAfter + index - head).type) return false
  return true
}

function replacement({ before, after, start }: Siblings, { head, end, headAfter = head, endAfter }: Stretch): Step {
  const from = start + sizeOf(before, 0, head)
  const nodes = Fragment.fromArray(after.content.slice(headAfter, endAfter))
  return new ReplaceStep(from, from + sizeOf(before, head, end), new Slice(nodes, 0, 0))
}

function equalEnds(before: Fragment, after: Fragment): { head: number; tail: number } {
  const most = Math.min(before.childCount, after.childCount)
  let head = 0
  while (head < most && before.child(head).eq(after.child(head))) head += 1
  let tail = 0
  const isEqual = (end: number) => before.child(before.childCount - 1 - end).eq(after.child(after.childCount - 1 - end))
  while (tail < most - head && isEqual(tail)) tail += 1
  return { head, tail }
}

function lettersChanged(before: Fragment, { content, start }: { content: Fragment; start: number }): Step[] {
  const from = before.findDiffStart(content)
  const ends = before.findDiffEnd(content)
  if (from === null || ends === null) return []
  // Letters beside equal letters are found from both sides.
  const common = Math.max(0, from - Math.min(ends.a, ends.b))
  const slice = new Slice(content.cut(from, ends.b + common), 0, 0)
  return [new ReplaceStep(start + from, start + ends.a + common, slice)]
}

function sizeOf(content: Fragment, from: number, to: number): number {
  let size = 0
  for (let index = from; index < to; index += 1) size += content.child(index).nodeSize
  return size
}
