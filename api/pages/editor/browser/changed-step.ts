import { type Node as DocumentNode, Fragment, Slice } from '@tiptap/pm/model'
import { ReplaceStep } from '@tiptap/pm/transform'

/**
 * The step that gives a node another content. It replaces the nodes that differ, and where that is a single node of
 * text, the letters that differ. `start` is the position of the content; null when the schema forbids the content.
 */
export function stepTo(
  content: Fragment,
  { parent, start }: { parent: DocumentNode; start: number },
): ReplaceStep | null {
  const { head, tail } = equalEnds(parent.content, content)
  const [end, endAfter] = [parent.childCount - tail, content.childCount - tail]
  if (!parent.canReplace(head, end, content, head, endAfter)) return null
  if (parent.inlineContent) return lettersChanged(parent.content, { content, start })
  const from = start + sizeOf(parent.content, 0, head)
  const [one, other] = [parent.maybeChild(head), content.maybeChild(head)]
  const isOneChanged = end === head + 1 && endAfter === head + 1 && one && other && !one.isLeaf && one.sameMarkup(other)
  const within = isOneChanged ? stepTo(other.content, { parent: one, start: from + 1 }) : null
  const nodes = Fragment.fromArray(content.content.slice(head, endAfter))
  return within ?? new ReplaceStep(from, from + sizeOf(parent.content, head, end), new Slice(nodes, 0, 0))
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

function lettersChanged(
  before: Fragment,
  { content, start }: { content: Fragment; start: number },
): ReplaceStep | null {
  const from = before.findDiffStart(content)
  const ends = before.findDiffEnd(content)
  if (from === null || ends === null) return null
  // Letters beside equal letters are found from both sides.
  const common = Math.max(0, from - Math.min(ends.a, ends.b))
  return new ReplaceStep(start + from, start + ends.a + common, new Slice(content.cut(from, ends.b + common), 0, 0))
}

function sizeOf(content: Fragment, from: number, to: number): number {
  let size = 0
  for (let index = from; index < to; index += 1) size += content.child(index).nodeSize
  return size
}
