import type * as Y from 'yjs'
import type { Slices } from '../../computations/slices.ts'
import { blockIds } from '../block-lines.ts'
import { canonicalJson } from '../canonical.ts'
import type { BlockNode, BodyNode } from '../document.ts'
import { inlineTypes } from '../nodes.ts'
import { normaliseDocument } from '../normalise.ts'
import { blockIdOf } from './align.ts'
import { planSiblings } from './apply.ts'
import { appendNodes, readChild } from './encoding.ts'
import type { HeldIds } from './held-ids.ts'
import type { Division, KnownElements, Run } from './known-elements.ts'
import { filler, fitTopLevel, isTooDeep } from './repair.ts'
import type { Repair } from './repair-nodes.ts'
import { IdRepair, idsIn, isBlockId } from './repair-values.ts'
import { restoreIds } from './restore-ids.ts'
import { runSteps } from './steps.ts'
import { asRead, isInlineChild, newWork, type Place } from './work.ts'

/**
 * A run of top-level children that has been read. `nodes` are the nodes as they are in the Y document, and `positions`
 * the index of the child of each node (undefined for inline content). `blocks` are the repaired nodes. `lines` are the
 * blocks in normal form.
 */
export type Reading = Run & {
  nodes: readonly BodyNode[]
  positions: readonly (number | undefined)[]
  blocks: readonly BodyNode[]
  lines: readonly string[]
  isRepaired: boolean
}

/**
 * What a reading of all runs has found. `repairs` has first the ids that were given back, then the repairs of nodes,
 * and at last the repairs of ids.
 */
export type Readings = { children: readonly unknown[]; runs: readonly Reading[]; repairs: Repair[] }

/** The state in which a settle finds a document: the known elements with their lines, and the ids that blocks hold. */
export type Settling = { known: KnownElements; lines: readonly string[]; held: HeldIds; seed: string }

/**
 * Reads, repairs and normalises the top-level children whose lines are not known. Only ids that blocks have lost are
 * written to the Y document at once. Together with the known lines, the result is what `repairDocument` and
 * `normaliseDocument` make of the whole body:
 *
 * - A known block never changes the block beside it, so each run is fitted by itself. A known frontmatter that is no
 *   longer first is read again.
 * - Known blocks keep their ids. So only ids of blocks in runs are repaired.
 * - When a block lies too deep, `repairDocument` treats all blocks in another way. So everything is read.
 */
export function* readRuns(fragment: Y.XmlFragment, settling: Settling): Slices<Readings> {
  const { known, lines, held } = settling
  const restored: Repair[] = []
  let isDeep = false
  for (;;) {
    const division = yield* known.divide()
    if (forgetFrontmatter(settling, division)) continue
    for (const repair of yield* restoreIds(fragment, known, division)) restored.push(repair)
    const runs = yield* readNodes(division, held)
    if (!isDeep && runs.some(({ nodes }) => nodes.some(isTooDeep))) {
      isDeep = true
      for (const index of lines.keys()) known.forget(index)
      continue
    }
    const fitted = yield* fitRuns(runs, isDeep)
    const isEmpty = fitted.every(({ blocks }) => blocks.length === 0) && division.positions.every((at) => at < 0)
    const last = fitted.at(-1)
    if (isEmpty && last) {
      last.blocks.push(filler(last.repairs))
      last.isRepaired = true
    }
    const idRepairs = yield* repairIds(settling, fitted)
    const repairs = [...restored, ...fitted.flatMap((one) => one.repairs), ...idRepairs]
    return { children: division.children, runs: yield* normalisedRuns(fitted), repairs }
  }
}

/** Brings the Y document to the repaired blocks. Runs without repairs are left alone. */
export function* writeRepairs(fragment: Y.XmlFragment, { children, runs }: Readings): Slices<void> {
  const repaired = runs.filter(({ isRepaired }) => isRepaired)
  const from = repaired.flatMap(({ nodes }) => nodes)
  const to = repaired.flatMap(({ blocks }) => blocks)
  const work = yield* newWork(fragment, { from, to }, asRead)
  // Runs are planned from the last to the first, so that positions among the children stay valid.
  for (const one of repaired.toReversed()) {
    yield* planSiblings(fragment, { from: one.nodes, to: one.blocks, work }, placeOf(one, children))
  }
  yield* runSteps(fragment, work.steps)
}

type Read = Run & Pick<Reading, 'nodes' | 'positions'>
type Fitted = Read & { blocks: BodyNode[]; repairs: Repair[]; isRepaired: boolean }

// The number of nodes that are repaired in one slice.
const nodesOfSlice = 16

function* readNodes({ runs }: Division, { note }: HeldIds): Slices<Read[]> {
  const read: Read[] = []
  for (const one of runs) {
    const nodes: BodyNode[] = []
    const positions: (number | undefined)[] = []
    for (const [offset, child] of one.children.entries()) {
      appendNodes(nodes, readChild(child, { note }))
      while (positions.length < nodes.length) positions.push(isInlineChild(child) ? undefined : one.position + offset)
      yield
    }
    read.push({ ...one, nodes, positions })
  }
  return read
}

/** Forgets a frontmatter that was the first block and has something before it now. */
function forgetFrontmatter({ known, lines }: Settling, { positions }: Division): boolean {
  const isMoved = (positions[0] ?? -1) > 0 && lines[0]?.endsWith('"type":"frontmatter"}') === true
  if (isMoved) known.forget(0)
  return isMoved
}

function* fitRuns(runs: readonly Read[], isDeep: boolean): Slices<Fitted[]> {
  const fitted: Fitted[] = []
  for (const one of runs) {
    const blocks: BodyNode[] = []
    const repairs: Repair[] = []
    let first = 0
    while (first < one.nodes.length) {
      const end = endOfPart(one.nodes, first)
      const isFirst = one.start === 0 && blocks.length === 0
      const part = fitTopLevel(one.nodes.slice(first, end), { isFirst, isDeep })
      for (const block of part.blocks) blocks.push(block)
      for (const repair of part.repairs) repairs.push(repair)
      first = end
      yield
    }
    fitted.push({ ...one, blocks, repairs, isRepaired: repairs.length > 0 })
  }
  return fitted
}

/**
 * The end of a part that can be repaired by itself. Adjacent inline nodes become one paragraph, so they stay together.
 */
function endOfPart(nodes: readonly BodyNode[], first: number): number {
  let end = Math.min(first + nodesOfSlice, nodes.length)
  while (end < nodes.length && inlineTypes.has(nodes[end]?.type ?? '')) end += 1
  return end
}

/** Gives the blocks of runs ids of their own. Changes `fitted`, and returns the repairs. */
function* repairIds({ known, lines, held, seed }: Settling, fitted: readonly Fitted[]): Slices<Repair[]> {
  const given = new Set<string>()
  const kept = new Set<string>()
  const taken = { has: (id: string) => given.has(id) || known.hasId(id), add: (id: string) => given.add(id) }
  const ids = new IdRepair({ seed, taken, kept, holds: held.has })
  for (const block of fitted.flatMap(({ blocks }) => blocks)) {
    for (const id of idsIn([block], new Set())) {
      given.add(id)
      if (isOfKnownBlock(known, id)) kept.add(id)
    }
    ids.look(block)
    yield
  }
  for (const one of fitted) {
    const [first, before] = [one.blocks[0], lines[one.start - 1]]
    if (first && !isBlockId(first.attrs?.id) && before !== undefined) ids.follow(lastBlockId(before))
    const repairsBefore = ids.repairs.length
    for (const [index, block] of one.blocks.entries()) {
      one.blocks[index] = ids.repaired(block)
      yield
    }
    if (ids.repairs.length > repairsBefore) one.isRepaired = true
  }
  return ids.repairs
}

/** True if a known element has a block with the id. A mention may have the id of a block, too. */
function isOfKnownBlock(known: KnownElements, id: string): boolean {
  return known.linesWithId(id).some((line) => blockIds(JSON.parse(line) as BlockNode).includes(id))
}

function lastBlockId(line: string): string {
  return blockIds(JSON.parse(line) as BlockNode).at(-1) ?? ''
}

function* normalisedRuns(runs: readonly Fitted[]): Slices<Reading[]> {
  const readings: Reading[] = []
  for (const one of runs) {
    const lines: string[] = []
    for (const block of one.blocks) {
      const { content } = normaliseDocument({ type: 'doc', content: [block] }, { from: 'json' }).result
      for (const node of content) lines.push(canonicalJson(node))
      yield
    }
    readings.push({ ...one, lines })
  }
  return readings
}

function placeOf({ nodes, positions, children, position }: Reading, live: readonly unknown[]): Place {
  const first = new Map<string, number>()
  nodes.forEach((node, index) => {
    const [id, at] = [blockIdOf(node), positions[index]]
    if (id !== undefined && at !== undefined && !first.has(id)) first.set(id, at)
  })
  return {
    live,
    positions: {
      ofOld: (index) => (inlineTypes.has(nodes[index]?.type ?? '') ? undefined : positions[index]),
      ofId: (id) => first.get(id ?? ''),
      before: position - 1,
    },
    start: position,
    end: position + children.length,
  }
}
