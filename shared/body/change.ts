import { type Computation, computation } from '../computations/computation.ts'
import type { Slices } from '../computations/slices.ts'
import { attachmentsIn } from './addresses.ts'
import { characterCount, nodeCount } from './body-limits.ts'
import { textVersion } from './canonical.ts'
import type { DocNode } from './document.ts'
import { compareLines, compareWindows, manifestStep, manifestStepInSlices, type PositionedLine } from './manifest.ts'
import type { LineWindow, VersionedLines } from './versioned-lines.ts'

/**
 * A pair of stored bodies, of which `from` is the old body and `to` is the new body. Each has one top-level block a
 * line.
 */
export type TwoTexts = { from: string; to: string }

/** A set of facts about a write that follow from the body before and the body after. */
export type BodyChange = {
  /** The version of the new body. */
  version: string
  /** The number of bytes of the new body and of the old body. */
  bytes: number
  bytesBefore: number
  /** The step from the old manifest to the new manifest: an array of `BlockStep` as JSON text. */
  step: string
  /** The growth of the body in code points of text and in nodes; negative when the body shrinks. */
  characters: number
  nodes: number
  /**
   * `shown` are the ids of the attachments that only the new body shows. `hidden` are the ids of the attachments that
   * only the old body showed.
   */
  shown: string[]
  hidden: string[]
}

/** Compares the body before a write with the body after. A thread calls this function by its name. @public */
export function changeBody({ from, to }: TwoTexts): BodyChange {
  const difference = compareLines(from.split('\n'), to.split('\n'))
  const [removed, added] = [difference.removed, difference.added].map(asDocument) as [DocNode, DocNode]
  return {
    version: textVersion(to),
    bytes: Buffer.byteLength(to),
    bytesBefore: Buffer.byteLength(from),
    step: JSON.stringify(manifestStep(difference)),
    characters: characterCount(added) - characterCount(removed),
    nodes: nodeCount(added) - nodeCount(removed),
    ...changedAttachments({ from, to }),
  }
}

/** Adds the change to an edit that a thread has made, so that the two need one thread. */
export function withChange<E extends { text: string }>(from: string, edited: E): E & { change: BodyChange } {
  return { ...edited, change: changeBody({ from, to: edited.text }) }
}

/**
 * Changes a body and returns the same facts as `changeBody`. Costs in proportion to the windows that differ, apart from
 * the new version. Null when there is no window.
 */
export function* changeLines(lines: VersionedLines, windows: readonly LineWindow[]): Slices<BodyChange | null> {
  if (windows.length === 0) return null
  const bytesBefore = lines.bytes
  const shownBefore = attachmentsOf(windows, ({ removed }) => removed)
  const newlyNamed = attachmentsOf(windows, ({ added }) => added).filter((id) => !lines.shows(id))
  yield* lines.replace(windows)
  const difference = yield* compareWindows(windows, lines.lines)
  const [removed, added] = [yield* sizesOf(difference.removed), yield* sizesOf(difference.added)]
  const step: string[] = []
  for (const one of yield* manifestStepInSlices(difference)) {
    step.push(JSON.stringify(one))
    yield
  }
  return {
    version: lines.version,
    bytes: lines.bytes,
    bytesBefore,
    step: `[${step.join(',')}]`,
    characters: added.characters - removed.characters,
    nodes: added.nodes - removed.nodes,
    shown: newlyNamed,
    hidden: shownBefore.filter((id) => !lines.shows(id)),
  }
}

/**
 * The ids of at most 100 top-level blocks that differ between two bodies. A thread calls this function by its name.
 * @public
 */
export function changedBlocks({ from, to }: TwoTexts): string[] {
  const step = manifestStep(compareLines(from.split('\n'), to.split('\n')))
  return step.slice(0, 100).map(({ block_id }) => block_id)
}

/**
 * Declares a computation on the body before a write and the body after. Two bodies of together 256 Ki characters take
 * less than 20 ms, so smaller bodies need no thread.
 */
export function twoTextComputation<Input extends TwoTexts, Output>(
  declared: Pick<Computation<Input, Output>, 'module' | 'run'>,
): Computation<Input, Output> {
  return computation({
    ...declared,
    isSmall: ({ from, to }) => from.length + to.length <= smallTexts,
    cpuMs: ({ from, to }) => 2000 + (from.length + to.length) * 0.005,
  })
}

const smallTexts = 256 * 1024

const module = import.meta.url
export const changing = twoTextComputation({ module, run: changeBody })
export const findingChangedBlocks = twoTextComputation({ module, run: changedBlocks })

function asDocument(lines: readonly PositionedLine[]): DocNode {
  return { type: 'doc', content: lines.map(({ block }) => block) }
}

function* sizesOf(lines: readonly PositionedLine[]): Slices<{ characters: number; nodes: number }> {
  const sizes = { characters: 0, nodes: 0 }
  for (const { block } of lines) {
    sizes.characters += characterCount(block)
    sizes.nodes += nodeCount(block)
    yield
  }
  return sizes
}

function attachmentsOf(windows: readonly LineWindow[], side: (window: LineWindow) => readonly string[]): string[] {
  return [...new Set(windows.flatMap((window) => side(window).flatMap((line) => [...attachmentsIn(line)])))]
}

function changedAttachments({ from, to }: TwoTexts): Pick<BodyChange, 'shown' | 'hidden'> {
  const [before, after] = [attachmentsIn(from), attachmentsIn(to)]
  return { shown: [...after.difference(before)], hidden: [...before.difference(after)] }
}
