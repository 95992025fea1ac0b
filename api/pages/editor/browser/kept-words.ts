import { type Node as DocumentNode, Fragment } from '@tiptap/pm/model'
import type { Transaction } from '@tiptap/pm/state'
import type { Mappable } from '@tiptap/pm/transform'
import type { BodyNode } from '../../../../shared/body/document.ts'
import { diffInline, keptStretches, rebaseInline } from '../../../../shared/body/yjs/inline-diff.ts'
import { lineOf, lineText, sliceLine } from '../../../../shared/body/yjs/line.ts'
import { putBlocks } from './insertion.ts'

/**
 * A change of a document, and what else has become of the document. The change leads from `base` to `target`. Meanwhile
 * `base` has become `now`, and `mapping` leads from `now` to the document in which the change was made there, too.
 */
export type MergedChange = { base: DocumentNode; target: DocumentNode; now: DocumentNode; mapping: Mappable }

/**
 * Puts back what was written into `now` and was deleted by the change, which has not seen it. A block that is still
 * there, or is there again, gets the words at their place in its text. Otherwise the block stays with these words.
 */
export function keepWords(tr: Transaction, change: MergedChange): void {
  const blocks = { base: blocksById(change.base), target: blocksById(change.target) }
  const lost: Block[] = []
  change.now.descendants((node, position) => {
    if (!isWritten(node)) return
    if (isLost({ node, position }, blocks.base.get(node.attrs['id'])?.node, change)) lost.push({ node, position })
  })
  // From the end to the start, so that the blocks which stay keep their order.
  for (const block of lost.reverse()) {
    const id = block.node.attrs['id']
    const [base, target] = [blocks.base.get(id)?.node, blocks.target.get(id)?.node]
    const there = blocksById(tr.doc).get(id)
    if (there?.node.isTextblock && block.node.isTextblock) {
      const content = merged({ base, target: target ?? there.node, now: block.node })
      replaceContent(tr, there, content)
    } else if (!there) {
      const content = merged({ base, target: undefined, now: block.node })
      if (content.size === 0 && !block.node.isLeaf) continue
      const $at = tr.doc.resolve(tr.mapping.map(change.mapping.map(block.position)))
      const position = $at.parent.isTextblock ? $at.after() : $at.pos
      putBlocks(tr, { position, nodes: Fragment.from(block.node.copy(content)) })
    }
  }
}

type Block = { node: DocumentNode; position: number }

// A block that has text or something of its own, and not only other blocks.
function isWritten(node: DocumentNode): boolean {
  return node.isBlock && (node.isTextblock || node.isLeaf)
}

function blocksById(doc: DocumentNode): Map<unknown, Block> {
  const blocks = new Map<unknown, Block>()
  doc.descendants((node, position) => {
    if (isWritten(node) && node.attrs['id'] !== null) blocks.set(node.attrs['id'], { node, position })
  })
  return blocks
}

// Whether the change has deleted something that is not in `base`, or has deleted a block that is not as in `base`.
function isLost({ node, position }: Block, base: DocumentNode | undefined, { mapping }: MergedChange): boolean {
  if (base === node || base?.content.eq(node.content)) return false
  if (node.isLeaf) return mapping.mapResult(position).deletedAfter
  if (mapping.mapResult(position + 1).deletedAcross) return true
  const text = textOf(node)
  const kept = base ? keptStretches(textOf(base), text) : []
  let start = 0
  return [...kept, { b: text.length, length: 0 }].some(({ b, length }) => {
    const [from, to] = [position + 1 + start, position + 1 + b]
    start = b + length
    return to > from && mapping.map(to, -1) - mapping.map(from, 1) < to - from
  })
}

type Versions = { base: DocumentNode | undefined; target: DocumentNode | undefined; now: DocumentNode }

function merged({ base, target, now }: Versions): Fragment {
  const [from, to, live] = [inlineOf(base), inlineOf(target), inlineOf(now)]
  const { edits } = rebaseInline({ change: diffInline(from, to), from, live })
  const line = lineOf(live)
  const parts: BodyNode[] = []
  let place = 0
  for (const { start, end, insert } of edits.sort((one, other) => one.start - other.start || one.end - other.end)) {
    parts.push(...sliceLine(line, place, start), ...insert)
    place = Math.max(place, end)
  }
  parts.push(...sliceLine(line, place, line.length))
  return Fragment.fromJSON(now.type.schema, parts)
}

function replaceContent(tr: Transaction, { node, position }: Block, content: Fragment): void {
  const fitting = node.type.validContent(content) ? content : plain(content)
  const start = node.content.findDiffStart(fitting)
  const ends = node.content.findDiffEnd(fitting)
  if (start === null || ends === null) return
  const common = Math.max(0, start - Math.min(ends.a, ends.b))
  tr.replaceWith(position + 1 + start, position + 1 + ends.a + common, fitting.cut(start, ends.b + common))
}

// A block of code takes no marks and no nodes.
function plain(content: Fragment): Fragment {
  return Fragment.fromArray(content.content.filter((node) => node.isText).map((node) => node.mark([])))
}

function inlineOf(node: DocumentNode | undefined): BodyNode[] {
  return node?.isTextblock ? ((node.content.toJSON() ?? []) as BodyNode[]) : []
}

function textOf(node: DocumentNode): string {
  return lineText(lineOf(inlineOf(node)))
}
