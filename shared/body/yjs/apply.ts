import * as Y from 'yjs'
import { atOnce, type Slices } from '../../computations/slices.ts'
import type { Attrs, BodyNode } from '../document.ts'
import { equalJson } from '../equal-json.ts'
import { inlineTypes, isTextblock } from '../nodes.ts'
import { alignSiblings, blockIdOf, equalEnds, placesById, type Siblings } from './align.ts'
import {
  childrenOf,
  elementFormats,
  idOf,
  type RawDocument,
  readChildren,
  readElement,
  setAttribute,
  writeNode,
} from './encoding.ts'
import { applyInline } from './inline-apply.ts'
import { diffInline, rebaseInline } from './inline-diff.ts'
import { type Edit, editSteps, insertAfter, runSteps, splices } from './steps.ts'
import { isInlineChild, type LiveIds, newWork, type Place, type Work, yPositions } from './work.ts'

/**
 * A change to apply that has the fragment of a Y document, the body that the document follows so far, and the next
 * body. `live` finds live blocks by their ids. Without it, the outermost block of an id is found, or the first of
 * several.
 */
export type Application = {
  fragment: Y.XmlFragment
  from: RawDocument
  to: RawDocument
  live?: LiveIds
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
export function applyDocument({ fragment, from, to, live: liveIds }: Application): void {
  const ends = equalEnds(from.content, to.content)
  const change = { from: middleOf(from.content, ends), to: middleOf(to.content, ends) }
  if (change.from.length + change.to.length === 0) return
  const live = childrenOf(fragment)
  const work = atOnce(newWork(fragment, change, liveIds))
  const positions = yPositions({ live, from: from.content, offset: ends.start, keepsId: work.keepsId })
  atOnce(planSiblings(fragment, { ...change, work }, { live, positions, start: 0, end: live.length }))
  atOnce(runSteps(fragment, work.steps))
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
      const known = { old: from[place ?? -1], live: live[position ?? -1] }
      if (position === undefined || known.old) insertAfter(edit, { anchor, node: rescued(node, work, known) })
      else if (planTwin(known.live, node, work)) anchor = position
      else insertAfter(edit, { anchor, node })
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

type Change = { from: BodyNode; to: BodyNode; work: Work }
type ChildrenChange = { from: Siblings; to: Siblings; work: Work }

function planBlock(element: Y.XmlElement, { from, to, work }: Change): void {
  planAttributes(element, { from, to, work })
  const contents = { from: from.content ?? [], to: to.content ?? [] }
  if (isTextblock(to.type)) planInline(element, { ...contents, work })
  else planChildren(element, { ...contents, work })
}

/**
 * A block of the change may be live already, without an old sibling. The change was applied before, or somebody has
 * brought back a deleted block that a program writes anew. Plans that the live block becomes the block of the change.
 * Returns false, and plans nothing, if both have contents of their own, so that both blocks must stay.
 */
function planTwin(live: unknown, node: BodyNode, work: Work): boolean {
  if (!(live instanceof Y.XmlElement)) return false
  const there = readElement(live)
  const [kept, written] = [contentsOf(there), contentsOf(node)]
  if (written !== kept && kept !== '') return written === ''
  if (there.type === node.type) planBlock(live, { from: there, to: node, work })
  return true
}

/** The text of a node and what else stands in it, without ids and formats. */
function contentsOf({ type, text, attrs, content }: BodyNode): string {
  if (text !== undefined) return text
  if (content !== undefined || isTextblock(type)) return content?.map(contentsOf).join('') ?? ''
  const named = Object.entries(attrs ?? {}).filter(([name, value]) => name !== 'id' && value !== null)
  return JSON.stringify([type, ...named.sort()])
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
  const copy = writeNode({ ...readWithKeptIds(live, work), type: node.type })
  work.scratch().insert(0, [copy])
  const keepsId: Work['keepsId'] = (child, id) => isIn(copy.doc, child) || work.keepsId(child, id)
  const apart: Work = { ...work, steps: [], strayBlock: () => undefined, keepsId }
  planBlock(copy, { from: { ...old, type: node.type }, to: node, work: apart })
  for (const step of apart.steps) step.run()
  return readElement(copy)
}

function withRescuedChildren(node: BodyNode, work: Work): BodyNode {
  if (!node.content || isTextblock(node.type)) return node
  return { ...node, content: node.content.map((child) => rescued(child, work)) }
}

/**
 * Reads a live block that is made anew. Blocks in it whose ids other blocks keep lose these ids. Otherwise nobody could
 * tell afterwards which of the new blocks is the pasted copy.
 */
function readWithKeptIds(live: Y.XmlElement, { keepsId }: Work): BodyNode {
  const pasted = new Set<BodyNode['attrs']>()
  const note = (element: Y.XmlElement, attrs: Attrs) => {
    const id = idOf(element)
    if (id !== undefined && !keepsId(element, id)) pasted.add(attrs)
  }
  const node = readElement(live, { note })
  return pasted.size > 0 ? withoutIds(node, pasted) : node
}

function withoutIds(node: BodyNode, pasted: ReadonlySet<BodyNode['attrs']>): BodyNode {
  const { id: _, ...attrs } = node.attrs ?? {}
  const content = node.content?.map((child) => withoutIds(child, pasted))
  return { ...node, ...(pasted.has(node.attrs) && { attrs }), ...(content && { content }) }
}

function isIn(doc: Y.Doc | null, child: unknown): boolean {
  return child instanceof Y.AbstractType && child.doc === doc
}
