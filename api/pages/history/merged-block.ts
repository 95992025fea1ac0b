import type { Static } from 'typebox'
import type { BlockNode, BodyNode } from '../../../shared/body/document.ts'
import { isTextblock } from '../../../shared/body/nodes.ts'
import type { BlockDifference } from '../../../shared/differences/schema.ts'
import { type AttributeChange, attributeChanges, orderChange } from './attribute-changes.ts'

/** What happened to a node of a merged block. A node without a change has no such attribute. */
export type NodeChange = 'inserted' | 'deleted'

/** A block with the content of both sides of a difference, and what cannot be seen in it. */
export type MergedBlock = { node: BodyNode; attributes: AttributeChange[] }

type Difference = Static<typeof BlockDifference>
type Hunks = NonNullable<Difference['hunks']>
type Words = ReadonlyMap<string, Hunks>

/**
 * Puts both sides of a modified block together. Inline content that only one side has carries the mark `inserted` or
 * `deleted`. A node inside of the block that only one side has carries its `change` as an attribute, with all nodes in
 * it. A text whose changed words are not known is deleted and inserted as a whole. Null where the sides cannot stand in
 * one block.
 */
export function mergedBlock({ before, after, hunks, children }: Difference): MergedBlock | null {
  if (before === null || after === null || !fit(before, after)) return null
  const words: Words = new Map([
    ...(hunks === undefined ? [] : [[after.attrs.id, hunks] as const]),
    ...(children ?? []).map(({ block_id, hunks }) => [block_id, hunks] as const),
  ])
  const attributes: AttributeChange[] = []
  const node = merged({ before, after }, { words, attributes, isPart: false })
  return { node, attributes }
}

// A node that only one side has, with all its content marked as `inserted` or `deleted`.
function changedNode(node: BodyNode, change: NodeChange): BodyNode {
  const attrs = { ...node.attrs, change }
  if (node.content === undefined) return { ...node, attrs }
  if (!isTextblock(node.type)) {
    return { ...node, attrs, content: node.content.map((child) => changedNode(child, change)) }
  }
  return { ...node, attrs, content: node.content.map((child) => marked(child, change)) }
}

type Sides = { before: BodyNode; after: BodyNode }

type Found = { words: Words; attributes: AttributeChange[]; isPart: boolean }

function merged({ before, after }: Sides, found: Found): BodyNode {
  found.attributes.push(...attributeChanges({ before, after }, found))
  if (isTextblock(after.type)) return mergedText({ before, after }, found.words)
  if (after.content === undefined && before.content === undefined) return after
  found.attributes.push(...orderChange({ before, after }, found))
  return { ...after, content: mergedParts({ before, after }, found) }
}

function mergedText({ before, after }: Sides, words: Words): BodyNode {
  const hunks = words.get(idOf(after))
  if (hunks !== undefined) return { ...after, content: hunks.map(inlineOf) }
  const [olds, news] = [before.content ?? [], after.content ?? []]
  if (JSON.stringify(olds) === JSON.stringify(news)) return after
  const both = [...olds.map((child) => marked(child, 'deleted')), ...news.map((child) => marked(child, 'inserted'))]
  return { ...after, content: both }
}

// The parts of the new side in their order, each in front of the parts of the old side that stood behind it and are
// gone.
function mergedParts({ before, after }: Sides, found: Found): BodyNode[] {
  const [olds, news] = [before.content ?? [], after.content ?? []]
  const oldById = new Map(olds.map((part) => [idOf(part), part]))
  const newIds = new Set(news.map(idOf))
  const goneBehind = new Map<string, BodyNode[]>(['', ...newIds].map((id) => [id, []]))
  let last = ''
  for (const part of olds) {
    const id = idOf(part)
    if (newIds.has(id)) last = id
    else goneBehind.get(last)?.push(changedNode(part, 'deleted'))
  }
  const parts = news.flatMap((part) => {
    const id = idOf(part)
    const old = oldById.get(id)
    const gone = goneBehind.get(id) ?? []
    if (old === undefined) return [changedNode(part, 'inserted'), ...gone]
    if (!fit(old, part)) return [changedNode(old, 'deleted'), changedNode(part, 'inserted'), ...gone]
    return [merged({ before: old, after: part }, { ...found, isPart: true }), ...gone]
  })
  return [...(goneBehind.get('') ?? []), ...parts]
}

// Whether two nodes can be shown as one: nodes of one type, or two textblocks.
function fit(before: BodyNode, after: BodyNode): boolean {
  return before.type === after.type || (isTextblock(before.type) && isTextblock(after.type))
}

function inlineOf({ op, text, marks, node }: Hunks[number]): BodyNode {
  const inline = node ?? { type: 'text', text, ...(marks && { marks }) }
  return op === 'equal' ? inline : marked(inline, op === 'insert' ? 'inserted' : 'deleted')
}

function marked(inline: BodyNode, change: NodeChange): BodyNode {
  return { ...inline, marks: [{ type: change }, ...(inline.marks ?? [])] }
}

function idOf(node: BodyNode | BlockNode): string {
  return String(node.attrs?.['id'])
}
