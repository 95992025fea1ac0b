import * as Y from 'yjs'
import { atOnce, type Slices } from '../../computations/slices.ts'
import type { BodyNode } from '../document.ts'
import { inlineTypes, isTextblock } from '../nodes.ts'
import { alignSiblings, blockIdOf, equalEnds, equalJson, placesById, type Siblings } from './align.ts'
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
import { isInlineChild, type LiveIds, newWork, type Place, type Step, type Work, yPositions } from './work.ts'

/**
 * A change to apply that has the fragment of a Y document, the body that the document follows so far, and the next
 * body. `live` finds live blocks by their ids; without it, the first block of an id is found. `origin` goes to the
 * observers of the Y document.
 */
export type Application = {
  fragment: Y.XmlFragment
  from: RawDocument
  to: RawDocument
  live?: LiveIds
  origin?: unknown
}

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
export function applyDocument({ fragment, from, to, live: liveIds, origin }: Application): void {
  const ends = equalEnds(from.content, to.content)
  const change = { from: middleOf(from.content, ends), to: middleOf(to.content, ends) }
  if (change.from.length + change.to.length === 0) return
  const live = childrenOf(fragment)
  const work = atOnce(newWork(fragment, change, liveIds))
  const positions = yPositions({ live, from: from.content, offset: ends.start, keepsId: work.keepsId })
  atOnce(planSiblings(fragment, { ...change, work }, { live, positions, start: 0, end: live.length }))
  atOnce(runSteps(fragment, work.steps, origin))
}

/**
 * Plans the steps that bring siblings from their old state to their new state. The caller says where the old siblings
 * are among the live children of their parent. Everything is read before anything is written, because one step may
 * delete what another step has to rescue.
 */
export function* planSiblings(
  parent: Y.XmlFragment,
  { from, to, work }: ChildrenChange,
  { live, positions, start, end }: Place,
): Slices<void> {
  const partners = yield* alignSiblings(from, to, work)
  const edit: Edit = { removals: new Set(), insertions: new Map() }
  const stay = new Set(partners)
  for (let index = 0; index < from.length; index++) {
    const position = stay.has(index) ? undefined : positions.ofOld(index)
    if (position !== undefined) edit.removals.add(position)
  }
  // Inline content may not stand beside blocks. A repair has taken it into a block.
  if (from.some((node) => inlineTypes.has(node.type))) {
    for (let index = start; index < end; index++) if (isInlineChild(live[index])) edit.removals.add(index)
  }
  const places = placesById(from, work)
  let anchor = positions.before
  for (const [index, node] of to.entries()) {
    yield
    const partner = partners[index] ?? -1
    const old = from[partner]
    const place = old ? partner : places.get(blockIdOf(node))
    const position = place === undefined ? positions.ofId(blockIdOf(node)) : positions.ofOld(place)
    if (!old) {
      // A live block without an old sibling was inserted when this change was applied before. So the block stays, and
      // is not inserted again.
      const known = { old: from[place ?? -1], live: live[position ?? -1] }
      if (position !== undefined && !known.old) anchor = position
      else insertAfter(edit, { anchor, node: rescued(node, work, known) })
      continue
    }
    anchor = position ?? anchor
    // A block that the change leaves alone stays as people have made it.
    if (equalJson(old, node)) continue
    const element = position === undefined ? work.strayBlock(blockIdOf(old)) : live[position]
    if (!(element instanceof Y.XmlElement)) continue
    if (element.nodeName === node.type) planBlock(element, { from: old, to: node, work })
    else if (position !== undefined) {
      edit.removals.add(position)
      insertAfter(edit, { anchor, node: rescued(node, work, { old, live: element }) })
    }
  }
  for (const step of editSteps(parent, live, edit)) work.steps.push(step)
}

/**
 * Runs planned steps in one Yjs transaction. Steps of more than `mostWeight` blocks are cut into several transactions,
 * each with an update of its own. In a large document a transaction has fewer splices than in a small document.
 */
export function* runSteps(fragment: Y.XmlFragment, steps: readonly Step[], origin?: unknown): Slices<void> {
  const { doc } = fragment
  if (!doc) throw new Error('The fragment is not part of a Y document')
  let next = 0
  while (next < steps.length) {
    const weightOfSplice = longestStructList(doc) / structsOfBlock
    doc.transact(() => {
      for (let weight = 0; weight < mostWeight && next < steps.length; next++) {
        const step = steps[next] as Step
        step.run()
        weight += step.weight + step.splices * weightOfSplice
      }
    }, origin)
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
// The splices of one removed block, and those of one edited or formatted range of text, which is split at both ends.
// Yjs merges what is deleted when the transaction ends.
const splices = { block: 2, range: 3 }

type Change = { from: BodyNode; to: BodyNode; work: Work }
type ChildrenChange = { from: Siblings; to: Siblings; work: Work }
type Edit = { removals: Set<number>; insertions: Map<number, BodyNode[]> }

function planBlock(element: Y.XmlElement, { from, to, work }: Change): void {
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
    work.steps.push({ weight: 0.1, splices: 0, run: () => setAttribute(element, name, after[name]) })
  }
}

function planInline(element: Y.XmlElement, { from, to, work }: ChildrenChange): void {
  const change = diffInline(from, to)
  if (change.edits.length + change.formats.length === 0) return
  const rebased = rebaseInline({ change, from, live: readChildren(element) })
  const ranges = rebased.edits.length + rebased.formats.length
  work.steps.push({ weight: 1, splices: ranges * splices.range, run: () => applyInline(element, rebased) })
}

function planChildren(parent: Y.XmlFragment, { from, to, work }: ChildrenChange): void {
  const ends = equalEnds(from, to)
  const change = { from: middleOf(from, ends), to: middleOf(to, ends), work }
  if (change.from.length + change.to.length === 0) return
  const live = childrenOf(parent)
  const positions = yPositions({ live, from, offset: ends.start, keepsId: work.keepsId })
  atOnce(planSiblings(parent, change, { live, positions, start: 0, end: live.length }))
}

function middleOf(siblings: Siblings, { start, end }: { start: number; end: number }): Siblings {
  return siblings.slice(start, siblings.length - end)
}

function insertAfter(edit: Edit, { anchor, node }: { anchor: number; node: BodyNode }): void {
  const nodes = edit.insertions.get(anchor)
  if (nodes) nodes.push(node)
  else edit.insertions.set(anchor, [node])
}

/**
 * The steps of an edit. Steps run from right to left, so that the remaining positions stay valid. Blocks are inserted
 * before others are removed. So when a large edit becomes several updates, a block that moves is never missing.
 */
function editSteps(parent: Y.XmlFragment, live: readonly unknown[], { removals, insertions }: Edit): Step[] {
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

function itemOf(child: unknown): Y.Item | null {
  return child instanceof Y.AbstractType ? child._item : null
}

/** The length of the longest array in which Yjs keeps the structs of one client. */
function longestStructList({ store }: Y.Doc): number {
  let longest = 0
  for (const { length } of store.clients.values()) longest = Math.max(longest, length)
  return longest
}

/**
 * Makes a block anew with the text that people typed into it, and into the blocks below it, since `from`. `known` holds
 * the old block (the block of `from`) and the live block, where the caller has both at hand. Old block, live block and
 * new block are merged in a separate Y document.
 */
function rescued(node: BodyNode, work: Work, known: { old?: BodyNode | undefined; live?: unknown } = {}): BodyNode {
  const isKnown = known.old !== undefined && known.live instanceof Y.XmlElement
  const old = isKnown ? known.old : work.oldBlock(blockIdOf(node))
  const live = isKnown || !old ? known.live : work.liveBlock(blockIdOf(node))
  if (!old || !(live instanceof Y.XmlElement) || isTextblock(old.type) !== isTextblock(node.type))
    return withRescuedChildren(node, work)
  const copy = writeNode({ ...readElement(live), type: node.type })
  work.scratch().insert(0, [copy])
  const apart: Work = { ...work, steps: [], strayBlock: () => undefined, keepsId: () => true }
  planBlock(copy, { from: { ...old, type: node.type }, to: node, work: apart })
  for (const step of apart.steps) step.run()
  return readElement(copy)
}

function withRescuedChildren(node: BodyNode, work: Work): BodyNode {
  if (!node.content || isTextblock(node.type)) return node
  return { ...node, content: node.content.map((child) => rescued(child, work)) }
}
