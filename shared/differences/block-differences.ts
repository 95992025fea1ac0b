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
 *
 * The changed words of all blocks take at most `roomForWords` characters of JSON. The block whose words exceed this
 * room and all later blocks come without their changed words. With a room of 0, no words are compared.
 */
export function blockDifferences(sides: { from: Lines; to: Lines }, roomForWords: number): string {
  let room = roomForWords
  const blocks = lineSteps(compareLines(sides.from, sides.to)).map((step) => {
    const words = room > 0 ? changedWords(step) : ''
    room -= words.length
    return blockDifference(step, room < 0 ? '' : words)
  })
  return `[${blocks.join(',')}]`
}

type Lines = readonly string[]

type Heading = Pick<Static<typeof BlockDifference>, 'op' | 'block_id' | 'old_position' | 'new_position'>

// The stored lines are JSON already, so they are not written again.
function blockDifference({ before, after }: LineStep, words: string): string {
  const [old, current] = [before?.line ?? null, after?.line ?? null]
  const heading: Heading = {
    op: operationOf(old, current),
    block_id: String((after ?? before)?.block.attrs.id),
    old_position: before?.position ?? null,
    new_position: after?.position ?? null,
  }
  const parts = [`${JSON.stringify(heading).slice(1, -1)},"before":${old},"after":${current}`, words]
  return `{${parts.filter((part) => part !== '').join(',')}}`
}

/** The members `hunks` or `children` of a modified block as JSON text without braces; empty for other blocks. */
function changedWords({ before, after }: LineStep): string {
  if (before === undefined || after === undefined || before.line === after.line) return ''
  return JSON.stringify(textDifferences(before.block, after.block)).slice(1, -1)
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
