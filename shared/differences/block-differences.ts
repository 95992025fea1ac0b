import type { Static } from 'typebox'
import type { BlockNode, BodyNode } from '../body/document.ts'
import { compareLines, type LineStep, lineSteps, operationOf } from '../body/manifest.ts'
import { isTextblock } from '../body/nodes.ts'
import { inlineHunks } from './inline-hunks.ts'
import type { BlockDifference, TextblockDifference } from './schema.ts'

/**
 * The difference of two bodies, given as their stored lines, by top-level blocks: an array of `BlockDifference` as JSON
 * text. Which blocks count as moved is what the step between their manifests says, as for the changes of a document.
 * First come the removed blocks by their old position, then the others by their new position.
 */
export function blockDifferences(from: readonly string[], to: readonly string[]): string {
  return `[${lineSteps(compareLines(from, to)).map(blockDifference).join(',')}]`
}

type Heading = Pick<Static<typeof BlockDifference>, 'op' | 'block_id' | 'old_position' | 'new_position'>

// The stored lines are JSON already, so they are not written again.
function blockDifference({ before, after }: LineStep): string {
  const [old, current] = [before?.line ?? null, after?.line ?? null]
  const op = operationOf(old, current)
  const block_id = String((after ?? before)?.block.attrs.id)
  const heading: Heading = {
    op,
    block_id,
    old_position: before?.position ?? null,
    new_position: after?.position ?? null,
  }
  const texts = op === 'modified' && before && after ? textDifferences(before.block, after.block) : {}
  const parts = [
    `${JSON.stringify(heading).slice(1, -1)},"before":${old},"after":${current}`,
    JSON.stringify(texts).slice(1, -1),
  ]
  return `{${parts.filter((part) => part !== '').join(',')}}`
}

type TextDifferences = Pick<Static<typeof BlockDifference>, 'hunks' | 'children'>

/** The difference of the texts of a block: `hunks` of a textblock, or `children` of a block that holds textblocks. */
function textDifferences(before: BlockNode, after: BlockNode): TextDifferences {
  if (isTextblock(before.type) && isTextblock(after.type)) {
    return { hunks: inlineHunks(before.content ?? [], after.content ?? []) }
  }
  const children = childDifferences(before, after)
  return children.length === 0 ? {} : { children }
}

// A textblock whose content is the same on both sides is left out. A textblock that only one side has is deleted or
// inserted as a whole.
function childDifferences(before: BlockNode, after: BlockNode): Static<typeof TextblockDifference>[] {
  const olds = new Map(textblocksOf(before))
  const news = new Map(textblocksOf(after))
  const gone = [...olds].filter(([id]) => !news.has(id)).map(([id, content]) => ({ id, from: content, to: [] }))
  const others = [...news].map(([id, content]) => ({ id, from: olds.get(id) ?? [], to: content }))
  return [...gone, ...others]
    .filter(({ from, to }) => JSON.stringify(from) !== JSON.stringify(to))
    .map(({ id, from, to }) => ({ block_id: id, hunks: inlineHunks(from, to) }))
}

/** The ids and contents of the textblocks in a block, in document order; the block itself may be a textblock. */
function* textblocksOf(block: BodyNode): Generator<[string, readonly BodyNode[]]> {
  const { type, attrs, content = [] } = block
  if (isTextblock(type)) yield [String(attrs?.['id']), content]
  else for (const child of content) yield* textblocksOf(child)
}
