import { atOnce, type Slices } from '../computations/slices.ts'
import { cutText } from '../schema/strings.ts'
import { topBlockId } from './block-lines.ts'
import { textVersion } from './canonical.ts'
import type { BlockNode } from './document.ts'
import { longestIncreasing } from './sequence.ts'
import { plainText } from './text.ts'
import type { LineWindow } from './versioned-lines.ts'

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
  return atOnce(compareWindow({ from: 0, removed: from, to: 0, added: to }))
}

/**
 * Compares two bodies that differ in the given windows only. `to` are all lines of the new body. Costs in proportion to
 * the windows. When a line or block moved from one window to another, it costs in proportion to everything between the
 * windows.
 */
export function* compareWindows(windows: readonly LineWindow[], to: readonly string[]): Slices<LineDifference> {
  const difference: LineDifference = { removed: [], added: [], kept: [] }
  for (const window of windows) {
    const { removed, added, kept } = yield* compareWindow(window)
    for (const line of removed) difference.removed.push(line)
    for (const line of added) difference.added.push(line)
    for (const line of kept) difference.kept.push(line)
  }
  return windows.length > 1 && movesBetween(windows) ? yield* compareWindow(hull(windows, to)) : difference
}

function* compareWindow({ from, removed, to, added }: LineWindow): Slices<LineDifference> {
  let start = 0
  let [fromEnd, toEnd] = [removed.length, added.length]
  while (start < fromEnd && start < toEnd && removed[start] === added[start]) start += 1
  while (start < fromEnd && start < toEnd && removed[fromEnd - 1] === added[toEnd - 1]) {
    fromEnd -= 1
    toEnd -= 1
  }
  const positions = new Map(removed.slice(start, fromEnd).map((line, index) => [line, from + start + index]))
  const difference: LineDifference = { removed: [], added: [], kept: [] }
  for (const [index, line] of added.slice(start, toEnd).entries()) {
    const oldPosition = positions.get(line)
    if (oldPosition === undefined) difference.added.push(positioned(line, to + start + index))
    else difference.kept.push({ line, from: oldPosition, to: to + start + index })
    positions.delete(line)
    yield
  }
  for (const [line, oldPosition] of positions) {
    difference.removed.push(positioned(line, oldPosition))
    yield
  }
  return difference
}

/** True if a line of one window has the block id of a line of another window. So a block has moved between them. */
function movesBetween(windows: readonly LineWindow[]): boolean {
  const homes = new Map<string, number>()
  windows.forEach(({ removed }, index) => {
    for (const line of removed) homes.set(topBlockId(line), index)
  })
  return windows.some(({ added }, index) => added.some((line) => (homes.get(topBlockId(line)) ?? index) !== index))
}

/** One window from the start of the first window to the end of the last window. */
function hull(windows: readonly LineWindow[], lines: readonly string[]): LineWindow {
  const [first, last] = [windows[0] as LineWindow, windows.at(-1) as LineWindow]
  const removed = windows.flatMap((window, index) => {
    const next = windows[index + 1]
    const between = next ? lines.slice(window.to + window.added.length, next.to) : []
    return [...window.removed, ...between]
  })
  const added = lines.slice(first.to, last.to + last.added.length)
  return { from: first.from, removed, to: first.to, added }
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
 * The ids of the blocks of a step, which is given as JSON text. Parsing all of a large step would take far longer. A
 * quote within a text of the step is escaped, so only the beginnings of its members match.
 */
export function blockIdsOfStep(step: string): string[] {
  return Array.from(step.matchAll(/\{"block_id":"(block_[0-9A-Z]{26})"/g), (match) => match[1] as string)
}

/**
 * What happened to a block that was `before` and is `after`, in the words of the API. Both are the same if the block is
 * the same, and null for a body that lacks the block. A block that was moved and edited counts as modified.
 */
export function operationOf(before: string | null, after: string | null): 'added' | 'removed' | 'modified' | 'moved' {
  if (before === null) return 'added'
  if (after === null) return 'removed'
  return before === after ? 'moved' : 'modified'
}

/**
 * The step from one manifest to the next. First come the blocks that are gone, by old position, then the other changed
 * blocks, by new position.
 */
export function manifestStep(difference: LineDifference): BlockStep[] {
  return atOnce(manifestStepInSlices(difference))
}

/** The same as `manifestStep`, in slices. */
export function* manifestStepInSlices(difference: LineDifference): Slices<BlockStep[]> {
  const steps: BlockStep[] = []
  for (const step of yield* lineStepsInSlices(difference)) {
    steps.push(blockStep(step))
    yield
  }
  return steps
}

/** A change of one block between two bodies, with its stored lines. A body that lacks the block has no line. */
export type LineStep = { before?: PositionedLine | undefined; after?: PositionedLine; displaced: boolean }

/** The steps of `manifestStep` with the stored lines of their blocks, in the same order. */
export function lineSteps(difference: LineDifference): LineStep[] {
  return atOnce(lineStepsInSlices(difference))
}

function* lineStepsInSlices(difference: LineDifference): Slices<LineStep[]> {
  const before = new Map(difference.removed.map((line) => [line.block.attrs.id, line]))
  const after = difference.added.map((line) => ({ ...line, before: before.get(line.block.attrs.id) }))
  for (const { block } of after) before.delete(block.attrs.id)
  const displaced = displacedBlocks([
    ...difference.kept,
    ...after.flatMap((line) => (line.before ? [{ from: line.before.position, to: line.position }] : [])),
  ])
  const gone = [...before.values()].map((line): LineStep => ({ before: line, displaced: false }))
  const others: (LineStep & { after: PositionedLine })[] = after.map(({ before, ...line }) => ({
    before,
    after: line,
    displaced: displaced.has(line.position),
  }))
  for (const { line, from, to } of difference.kept) {
    if (!displaced.has(to)) continue
    const moved = positioned(line, to)
    others.push({ before: { ...moved, position: from }, after: moved, displaced: true })
    yield
  }
  return [...gone, ...others.sort((a, b) => a.after.position - b.after.position)]
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

function blockStep(step: LineStep): BlockStep {
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
  return cutText(plainText(block).replace(/\s+/gu, ' ').trim(), excerptLength)
}

const excerptLength = 120
