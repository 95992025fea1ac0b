import type { Static } from 'typebox'
import type { BlockNode, BodyNode } from '../../../shared/body/document.ts'
import { isTextblock } from '../../../shared/body/nodes.ts'
import type { BlockDifference } from '../../../shared/differences/schema.ts'
import { type AttributeChange, attributeChanges } from './attribute-changes.ts'

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
 * it. Null where the sides cannot stand in one block, or where the difference came without its changed words.
 */
export function mergedBlock({ before, after, hunks, children }: Difference): MergedBlock | null {
  if (before === null || after === null || !fit(before, after)) return null
  const isText = isTextblock(after.type)
  const words: Words = new Map([
    ...(hunks === undefined ? [] : [[after.attrs.id, hunks] as const]),
    ...(children ?? []).map(({ block_id, hunks }) => [block_id, hunks] as const),
  ])
  if (isText && hunks === undefined) return null
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

function merged(
  { before, after }: Sides,
  found: { words: Words; attributes: AttributeChange[]; isPart: boolean },
): BodyNode {
  found.attributes.push(...attributeChanges({ before, after }, { isPart: found.isPart }))
  if (after.content === undefined && before.content === undefined) return after
  if (isTextblock(after.type)) {
    const hunks = found.words.get(idOf(after))
    return hunks === undefined ? after : { ...after, content: hunks.map(inlineOf) }
  }
  return { ...after, content: mergedParts({ before, after }, found) }
}

// The parts of the new side in their order, each behind the parts of the old side that are gone there.
function mergedParts({ before, after }: Sides, found: { words: Words; attributes: AttributeChange[] }): BodyNode[] {
  const [olds, news] = [before.content ?? [], after.content ?? []]
  const oldById = new Map(olds.map((part) => [idOf(part), part]))
  const newIds = new Set(news.map(idOf))
  // The parts that are gone, by the id of the part before them that both sides have.
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
  if (op === 'equal') return readable(inline)
  return marked(inline, op === 'insert' ? 'inserted' : 'deleted')
}

function marked(inline: BodyNode, change: NodeChange): BodyNode {
  const node = readable(inline)
  return { ...node, marks: [{ type: change }, ...(node.marks ?? [])] }
}

// A raw tag is shown as it was written. As a tag, it could reach over the ends of what was inserted or deleted.
function readable(inline: BodyNode): BodyNode {
  if (inline.type !== 'htmlInline') return inline
  return { type: 'text', text: String(inline.attrs?.['html'] ?? ''), marks: [{ type: 'code' }] }
}

function idOf(node: BodyNode | BlockNode): string {
  return String(node.attrs?.['id'])
}
