import * as Y from 'yjs'
import type { BodyNode } from '../document.ts'
import { inlineTypes, isTextblock } from '../nodes.ts'
import { alignSiblings, blockIdOf, equalEnds, equalJson, type Siblings } from './align.ts'
import {
  childrenOf,
  elementFormats,
  type RawDocument,
  readChildren,
  readElement,
  setAttribute,
  writeNode,
} from './encoding.ts'
import { applyInline } from './inline-apply.ts'
import { diffInline, rebaseInline } from './inline-diff.ts'
import { isInlineChild, newWork, type Work, type YPositions, yPositions } from './work.ts'

/**
 * A change to apply that has the fragment of a Y document, the body that the document follows so far, and the next
 * body. `origin` goes to the observers of the Y document.
 */
export type Application = { fragment: Y.XmlFragment; from: RawDocument; to: RawDocument; origin?: unknown }

/**
 * Brings a Y document from one body to another in one Yjs transaction and changes only the differences. Blocks are
 * matched by id. A block keeps its Y type unless it moved among its siblings, changed its parent or changed its type.
 * Text is changed word by word.
 *
 * The Y document may be ahead of `from`. Text that people have typed since then stays. It stays also in blocks that are
 * made anew in Yjs because they moved or changed their type. Blocks that people deleted stay deleted. Applying the same
 * change a second time leaves the readable content as it is. If the Y document was equal to `from`, it reads as `to`
 * afterwards.
 */
export function applyDocument({ fragment, from, to, origin }: Application): void {
  const { doc } = fragment
  if (!doc) throw new Error('The fragment is not part of a Y document')
  const contents = { from: from.content, to: to.content }
  const ends = equalEnds(contents.from, contents.to)
  const work = newWork(fragment, { ...contents, ends })
  planChildren(fragment, { ...contents, work }, ends)
  if (work.steps.length === 0) return
  // Everything is read before anything is written, because one step may delete what another step has to rescue.
  doc.transact(() => run(work), origin)
}

type Change = { from: BodyNode; to: BodyNode; work: Work }
type ChildrenChange = { from: Siblings; to: Siblings; work: Work }
type Edit = { removals: Set<number>; insertions: Map<number, BodyNode[]> }

function run(work: Work): void {
  for (const step of work.steps) step()
}

function planBlock(element: Y.XmlElement, { from, to, work }: Change): void {
  if (equalJson(from, to)) return
  planAttributes(element, { from, to, work })
  const contents = { from: from.content ?? [], to: to.content ?? [] }
  if (isTextblock(to.type)) planInline(element, { ...contents, work })
  else planChildren(element, { ...contents, work })
}

function planAttributes(element: Y.XmlElement, { from, to, work }: Change): void {
  const before = { ...from.attrs, ...elementFormats(from.marks) }
  const after = { ...to.attrs, ...elementFormats(to.marks) }
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (equalJson(before[name], after[name])) continue
    work.steps.push(() => setAttribute(element, name, after[name]))
  }
}

function planInline(element: Y.XmlElement, { from, to, work }: ChildrenChange): void {
  const change = diffInline(from, to)
  if (change.edits.length + change.formats.length === 0) return
  const rebased = rebaseInline({ change, from, live: readChildren(element) })
  work.steps.push(() => applyInline(element, rebased))
}

function planChildren(parent: Y.XmlFragment, { from, to, work }: ChildrenChange, ends = equalEnds(from, to)): void {
  const olds = from.slice(ends.start, from.length - ends.end)
  const news = to.slice(ends.start, to.length - ends.end)
  if (olds.length + news.length === 0) return
  const live = childrenOf(parent)
  const positions = yPositions({ live, from, offset: ends.start })
  const partners = alignSiblings(olds, news, work)
  const edit: Edit = { removals: removalsOf({ live, olds, positions, partners }), insertions: new Map() }
  const siblings = new Map(olds.map((node) => [blockIdOf(node), node]))
  let anchor = positions.before
  for (const [index, node] of news.entries()) {
    const partner = partners[index] ?? -1
    const old = olds[partner]
    const position = old ? positions.ofOld(partner) : positions.ofId(blockIdOf(node))
    if (!old) {
      // A live block without an old sibling was inserted when this change was applied before. So the block stays, and
      // is not inserted again.
      const sibling = siblings.get(blockIdOf(node))
      if (position !== undefined && !sibling) anchor = position
      else insertAfter(edit, { anchor, node: rescued(node, work, { old: sibling, live: live[position ?? -1] }) })
      continue
    }
    anchor = position ?? anchor
    const element = position === undefined ? work.strayBlock(blockIdOf(old)) : live[position]
    if (!(element instanceof Y.XmlElement)) continue
    if (element.nodeName === node.type) planBlock(element, { from: old, to: node, work })
    else if (position !== undefined) {
      edit.removals.add(position)
      insertAfter(edit, { anchor, node: rescued(node, work, { old, live: element }) })
    }
  }
  if (edit.removals.size + edit.insertions.size > 0) work.steps.push(() => editChildren(parent, live.length, edit))
}

/** The positions of the old siblings to be removed, and of inline content under a parent that may only hold blocks. */
function removalsOf(input: {
  live: unknown[]
  olds: Siblings
  positions: YPositions
  partners: number[]
}): Set<number> {
  const { live, olds, positions } = input
  const stay = new Set(input.partners)
  const gone = olds.flatMap((_, index) => (stay.has(index) ? [] : (positions.ofOld(index) ?? [])))
  if (!olds.some((node) => inlineTypes.has(node.type))) return new Set(gone)
  return new Set([...gone, ...live.flatMap((child, index) => (isInlineChild(child) ? index : []))])
}

function insertAfter(edit: Edit, { anchor, node }: { anchor: number; node: BodyNode }): void {
  const nodes = edit.insertions.get(anchor)
  if (nodes) nodes.push(node)
  else edit.insertions.set(anchor, [node])
}

/** Edits run from right to left, so that the remaining positions stay valid. */
function editChildren(parent: Y.XmlFragment, length: number, { removals, insertions }: Edit): void {
  let pending = 0
  for (let position = length - 1; position >= -1; position--) {
    const nodes = insertions.get(position)
    const removed = removals.has(position)
    if (pending > 0 && (nodes || !removed)) {
      parent.delete(position + 1, pending)
      pending = 0
    }
    if (nodes) parent.insert(position + 1, nodes.map(writeNode))
    if (removed) pending += 1
  }
}

/**
 * Makes a block anew with the text that people typed into it, and into the blocks below it, since `from`. `known` holds
 * the old block (the block of `from`) and the live block, where the caller has both at hand. Old block, live block and
 * new block are merged in a separate Y document.
 */
function rescued(node: BodyNode, work: Work, known: { old?: BodyNode; live?: unknown } = {}): BodyNode {
  const isKnown = known.old !== undefined && known.live instanceof Y.XmlElement
  const old = isKnown ? known.old : work.oldBlock(blockIdOf(node))
  const live = isKnown || !old ? known.live : work.liveBlock(blockIdOf(node))
  if (!old || !(live instanceof Y.XmlElement) || isTextblock(old.type) !== isTextblock(node.type))
    return withRescuedChildren(node, work)
  const copy = writeNode({ ...readElement(live), type: node.type })
  work.scratch().insert(0, [copy])
  const apart: Work = { ...work, steps: [], strayBlock: () => undefined }
  planBlock(copy, { from: { ...old, type: node.type }, to: node, work: apart })
  run(apart)
  return readElement(copy)
}

function withRescuedChildren(node: BodyNode, work: Work): BodyNode {
  if (!node.content || isTextblock(node.type)) return node
  return { ...node, content: node.content.map((child) => rescued(child, work)) }
}
