import { textVersion } from './canonical.ts'
import type { BlockNode } from './document.ts'
import { longestIncreasing } from './sequence.ts'
import { plainText } from './text.ts'

/** A top-level block in a manifest; `hash` covers the whole block. */
export type ManifestEntry = { block_id: string; position: number; type: string; hash: string; text_excerpt: string }

/** The manifest of a body from its stored lines: its top-level blocks in order. */
export function manifestOf(lines: readonly string[]): ManifestEntry[] {
  return lines.map((line, position) => entryOf(positioned(line, position)))
}

/** A stored line with its parsed block and its position among the top-level blocks. */
export type PositionedLine = { line: string; position: number; block: BlockNode }

/** A line that both bodies have, with its position in each body. */
type KeptLine = { line: string; from: number; to: number }

/**
 * A difference of two bodies in lines. `removed` are the lines that only the old body has. `added` are the lines that
 * only the new body has. `kept` are the lines of both bodies in the new order, without the common start and end.
 */
export type LineDifference = { removed: PositionedLine[]; added: PositionedLine[]; kept: KeptLine[] }

/** Compares two bodies by their stored lines. No line occurs twice in one body. Only lines that differ are parsed. */
export function compareLines(from: readonly string[], to: readonly string[]): LineDifference {
  let start = 0
  let [fromEnd, toEnd] = [from.length, to.length]
  while (start < fromEnd && start < toEnd && from[start] === to[start]) start += 1
  while (start < fromEnd && start < toEnd && from[fromEnd - 1] === to[toEnd - 1]) {
    fromEnd -= 1
    toEnd -= 1
  }
  const positions = new Map(from.slice(start, fromEnd).map((line, index) => [line, start + index]))
  const difference: LineDifference = { removed: [], added: [], kept: [] }
  for (const [index, line] of to.slice(start, toEnd).entries()) {
    const oldPosition = positions.get(line)
    if (oldPosition === undefined) difference.added.push(positioned(line, start + index))
    else difference.kept.push({ line, from: oldPosition, to: start + index })
    positions.delete(line)
  }
  for (const [line, oldPosition] of positions) difference.removed.push(positioned(line, oldPosition))
  return difference
}

/**
 * A change of one block between two manifests. The position and hash of a manifest that lacks the block are null. Type
 * and excerpt come from the new block, or from the old block when the block is gone. A `displaced` block was moved: all
 * other blocks that both bodies have are in the same order as before. As few blocks as possible count as displaced.
 */
export type BlockStep = {
  block_id: string
  type: string
  text_excerpt: string
  old_position: number | null
  old_hash: string | null
  new_position: number | null
  new_hash: string | null
  displaced: boolean
}

/**
 * The step from one manifest to the next. First come the blocks that are gone, by old position, then the other changed
 * blocks, by new position.
 */
export function manifestStep(difference: LineDifference): BlockStep[] {
  const before = new Map(difference.removed.map((line) => [line.block.attrs.id, line]))
  const after = difference.added.map((line) => ({ ...line, before: before.get(line.block.attrs.id) }))
  for (const { block } of after) before.delete(block.attrs.id)
  const displaced = displacedBlocks([
    ...difference.kept,
    ...after.flatMap((line) => (line.before ? [{ from: line.before.position, to: line.position }] : [])),
  ])
  const gone = [...before.values()].map((line) => blockStep({ before: line, displaced: false }))
  const written = after.map((line) => blockStep({ ...line, after: line, displaced: displaced.has(line.position) }))
  const moved = difference.kept.flatMap(({ line, from, to }) => {
    if (!displaced.has(to)) return []
    const after = positioned(line, to)
    return [blockStep({ before: { ...after, position: from }, after, displaced: true })]
  })
  return [...gone, ...[...written, ...moved].sort((a, b) => (a.new_position ?? 0) - (b.new_position ?? 0))]
}

/**
 * The new positions of the displaced blocks: the blocks outside the longest sequence of blocks whose order is the same
 * on both sides.
 */
function displacedBlocks(positions: { from: number; to: number }[]): Set<number> {
  const inOrder = positions.sort((a, b) => a.to - b.to)
  const ascending = inOrder.every(({ from }, index) => index === 0 || (inOrder[index - 1]?.from ?? 0) < from)
  if (ascending) return new Set()
  const displaced = new Set(inOrder.map(({ to }) => to))
  for (const index of longestIncreasing(inOrder.map(({ from }) => from))) displaced.delete(inOrder[index]?.to ?? -1)
  return displaced
}

function blockStep(step: {
  before?: PositionedLine | undefined
  after?: PositionedLine
  displaced: boolean
}): BlockStep {
  const old = step.before === undefined ? undefined : entryOf(step.before)
  const current = step.after === undefined ? undefined : entryOf(step.after)
  const shown = (current ?? old) as ManifestEntry
  return {
    block_id: shown.block_id,
    type: shown.type,
    text_excerpt: shown.text_excerpt,
    old_position: old?.position ?? null,
    old_hash: old?.hash ?? null,
    new_position: current?.position ?? null,
    new_hash: current?.hash ?? null,
    displaced: step.displaced,
  }
}

function positioned(line: string, position: number): PositionedLine {
  return { line, position, block: JSON.parse(line) as BlockNode }
}

function entryOf({ line, position, block }: PositionedLine): ManifestEntry {
  return {
    block_id: block.attrs.id,
    position,
    type: block.type,
    hash: textVersion(line),
    text_excerpt: excerptOf(block),
  }
}

/** The first 120 code points of a block's text, with white space collapsed. */
function excerptOf(block: BlockNode): string {
  const text = plainText(block).replace(/\s+/gu, ' ').trim()
  return text.length <= excerptLength
    ? text
    : Array.from(text.slice(0, 2 * excerptLength))
        .slice(0, excerptLength)
        .join('')
}

const excerptLength = 120
