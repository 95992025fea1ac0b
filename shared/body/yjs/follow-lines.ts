import type * as Y from 'yjs'
import type { Slices } from '../../computations/slices.ts'
import { topBlockId } from '../block-lines.ts'
import type { BlockNode, BodyNode } from '../document.ts'
import { longestIncreasing } from '../sequence.ts'
import type { LineWindow } from '../versioned-lines.ts'
import { planSiblings } from './apply.ts'
import { BlocksById } from './blocks-by-id.ts'
import type { HeldIds } from './held-ids.ts'
import type { Division, KnownElements } from './known-elements.ts'
import { restoreIds } from './restore-ids.ts'
import { runSteps } from './steps.ts'
import { type LiveIds, newWork, onFirstUse, type YPositions } from './work.ts'

/**
 * Two bodies as lines, and what is known of the Y document, which follows `from` and is to follow `to`. `held` are the
 * ids that blocks of the Y document hold.
 */
type Following = { from: readonly string[]; to: readonly string[]; known: KnownElements; held: HeldIds }

/**
 * Brings a Y document from the body that it follows to another body, as `applyDocument` does with whole documents.
 * Returns the windows in which the bodies differ. Lines are compared as texts, and only lines that differ are parsed.
 * Where the bodies are equal, only elements that are not known are looked at.
 */
export function* followLines(fragment: Y.XmlFragment, following: Following): Slices<LineWindow[]> {
  const { from, to, known, held } = following
  const ends = equalLines(from, to)
  const olds = from.slice(ends.start, from.length - ends.end)
  const news = to.slice(ends.start, to.length - ends.end)
  if (olds.length + news.length === 0) return []
  const division = yield* known.divide()
  // A program names blocks by their ids, also those from which an editor has just removed the id.
  yield* restoreIds(fragment, known, division)
  const partners = partnersOf(olds, news)
  const change = yield* nodesOf(olds, news, partners)
  const live = new LiveBlocks({ known, division, from, unknown: yield* blocksOfRuns(division, held) })
  // Blocks that stay unchanged are the same objects on both sides. Nobody asks for them by id.
  const staying = new Set(partners.map((partner) => change.from[partner]))
  const others = (nodes: readonly BodyNode[]) => nodes.filter((node) => !staying.has(node))
  const differing = { from: others(change.from), to: others(change.to) }
  const work = yield* newWork(fragment, differing, live)
  const place = { live: division.children, positions: live.positions(ends.start), start: 0, end: 0 }
  yield* planSiblings(fragment, { ...change, work }, place)
  yield* runSteps(fragment, work.steps)
  return windowsBetween({ olds, news, partners, start: ends.start })
}

function equalLines(from: readonly string[], to: readonly string[]): { start: number; end: number } {
  const shorter = Math.min(from.length, to.length)
  let start = 0
  while (start < shorter && from[start] === to[start]) start += 1
  let end = 0
  while (end < shorter - start && from[from.length - 1 - end] === to[to.length - 1 - end]) end += 1
  return { start, end }
}

/** For each new line, the index of the equal old line that stays in its place, or -1. */
function partnersOf(olds: readonly string[], news: readonly string[]): number[] {
  const places = new Map(olds.map((line, index) => [topBlockId(line), index]))
  const candidates = news.map((line) => places.get(topBlockId(line)) ?? -1)
  const partners = news.map(() => -1)
  for (const index of longestIncreasing(candidates)) {
    const partner = candidates[index] ?? -1
    if (olds[partner] === news[index]) partners[index] = partner
  }
  return partners
}

/**
 * The blocks of lines. An unchanged block that stays in its place is not parsed, because nobody looks into it. Instead,
 * one object that has the id of the block stands for it on both sides. A block that moves is one object on both sides.
 */
function* nodesOf(
  olds: readonly string[],
  news: readonly string[],
  partners: readonly number[],
): Slices<{ from: BodyNode[]; to: BodyNode[] }> {
  const staying = new Set(partners)
  const from: BodyNode[] = []
  const byLine = new Map<string, BodyNode>()
  for (const [index, line] of olds.entries()) {
    const node = staying.has(index) ? unchangedBlock(line) : (JSON.parse(line) as BlockNode)
    from.push(node)
    if (!staying.has(index)) byLine.set(line, node)
    yield
  }
  const to: BodyNode[] = []
  for (const [index, line] of news.entries()) {
    to.push(from[partners[index] ?? -1] ?? byLine.get(line) ?? (JSON.parse(line) as BlockNode))
    yield
  }
  return { from, to }
}

function unchangedBlock(line: string): BlockNode {
  return { type: 'unchanged', attrs: { id: topBlockId(line) } }
}

type Pairs = { olds: readonly string[]; news: readonly string[]; partners: readonly number[]; start: number }

/** The windows between the lines that stay in their places. `start` lines stand before both lists. */
function windowsBetween({ olds, news, partners, start }: Pairs): LineWindow[] {
  const windows: LineWindow[] = []
  let [from, to] = [0, 0]
  for (let index = 0; index <= news.length; index++) {
    const partner = index === news.length ? olds.length : (partners[index] ?? -1)
    if (partner < 0) continue
    const [removed, added] = [olds.slice(from, partner), news.slice(to, index)]
    if (removed.length + added.length > 0) windows.push({ from: start + from, removed, to: start + to, added })
    from = partner + 1
    to = index + 1
  }
  return windows
}

/** The blocks of elements that are not known. */
function* blocksOfRuns({ runs }: Division, held: HeldIds): Slices<BlocksById> {
  const blocks = new BlocksById(held.rankOf)
  for (const { children } of runs) {
    for (const child of children) {
      blocks.add(child)
      yield
    }
  }
  return blocks
}

type Live = { known: KnownElements; division: Division; from: readonly string[]; unknown: BlocksById }

/**
 * Finds live blocks, as `liveIds` and `yPositions` do by reading the ids of all blocks. Here only elements that are not
 * known are read. A known element keeps its ids, because it had them at the last `settle`.
 */
class LiveBlocks implements LiveIds {
  readonly #known: KnownElements
  readonly #division: Division
  readonly #from: readonly string[]
  readonly #unknown: BlocksById
  /** The blocks of known elements, as far as they were asked for. */
  readonly #inKnown = new Map<Y.XmlElement, BlocksById>()
  readonly #positionOf = onFirstUse(
    () => new Map<unknown, number>(this.#division.children.map((child, position) => [child, position])),
  )

  constructor({ known, division, from, unknown }: Live) {
    this.#known = known
    this.#division = division
    this.#from = from
    this.#unknown = unknown
  }

  /** The positions of old siblings, whose indices count from an offset. */
  positions(offset: number): YPositions {
    let before: number | undefined
    for (let index = offset - 1; index >= 0 && before === undefined; index--) before = this.#ofLine(index)
    return {
      ofOld: (index) => this.#ofLine(offset + index),
      ofId: (id) => (id === undefined ? undefined : this.#positionOfBlock(this.block(id))),
      before: before ?? -1,
    }
  }

  readonly block = (id: string): Y.XmlElement | undefined => {
    for (const element of this.#known.withId(id)) {
      const block = this.#blocksIn(element).get(id)
      if (block) return block
    }
    return this.#unknown.get(id)
  }

  readonly keepsId = (child: unknown, id: string): boolean => this.block(id) === child

  #ofLine(index: number): number | undefined {
    const { children, positions } = this.#division
    const known = positions[index] ?? -1
    if (known >= 0) return known
    const block = this.block(topBlockId(this.#from[index] as string))
    // Where the Y document is not ahead, a block has its old index.
    return block !== undefined && block === children[index] ? index : this.#positionOfBlock(block)
  }

  /** The position of a block at the top level. */
  #positionOfBlock(block: Y.XmlElement | undefined): number | undefined {
    return block && this.#positionOf().get(block)
  }

  #blocksIn(element: Y.XmlElement): BlocksById {
    const blocks = this.#inKnown.get(element) ?? new BlocksById().add(element)
    this.#inKnown.set(element, blocks)
    return blocks
  }
}
