import { type Computation, computation } from '../computations/computation.ts'
import { attachmentsIn } from './addresses.ts'
import { characterCount, nodeCount } from './body-limits.ts'
import { textVersion } from './canonical.ts'
import type { DocNode } from './document.ts'
import { compareLines, manifestStep, type PositionedLine } from './manifest.ts'

/** Two bodies as they are stored, one top-level block a line. */
export type TwoTexts = { from: string; to: string }

/** What a write of a body changes, as far as it follows from the body before and the one after. */
export type BodyChange = {
  /** The version of the new body. */
  version: string
  /** How many bytes the new body has, and the old one. */
  bytes: number
  bytesBefore: number
  /** From the manifest before to the new one: `BlockStep`s as JSON. */
  step: string
  /** How many code points of text and how many nodes there are more than before. */
  characters: number
  nodes: number
  /** The ids of attachments that only the new body shows, and of those that only the old one did. */
  shown: string[]
  hidden: string[]
}

/** The work of `changing`, which a thread calls by its name. @public */
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

/** The ids of top-level blocks that differ between two bodies, at most 100, for a thread to find. @public */
export function changedBlocks({ from, to }: TwoTexts): string[] {
  const step = manifestStep(compareLines(from.split('\n'), to.split('\n')))
  return step.slice(0, 100).map(({ block_id }) => block_id)
}

/** Declares a computation on the body before a write and the one after; bodies of some 100 kB take less than 20 ms. */
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

function changedAttachments({ from, to }: TwoTexts): Pick<BodyChange, 'shown' | 'hidden'> {
  const [before, after] = [attachmentsIn(from), attachmentsIn(to)]
  return { shown: [...after.difference(before)], hidden: [...before.difference(after)] }
}
