import type * as Y from 'yjs'
import type { Slices } from '../../computations/slices.ts'
import { topBlockId } from '../block-lines.ts'
import type { BlockNode, BodyNode } from '../document.ts'
import { longestIncreasing } from '../sequence.ts'
import type { LineWindow } from '../versioned-lines.ts'
import { planSiblings, runSteps } from './apply.ts'
import { idOf } from './encoding.ts'
import type { Division, KnownElements } from './known-elements.ts'
import { elementsById, isInlineChild, newWork, onFirstUse, type YPositions } from './work.ts'

/** Two bodies as lines. The Y document follows `from`, and is to follow `to`. */
type TwoBodies = { from: readonly string[]; to: readonly string[] }

/**
 * Brings a Y document from the body that it follows to another body, as `applyDocument` does with whole documents.
 * Returns the windows in which the bodies differ. Lines are compared as texts, and only lines that differ are parsed.
 * Where the bodies are equal, only elements that are not known are looked at.
 */
export function* followLines(fragment: Y.XmlFragment, known: KnownElements, bodies: TwoBodies): Slices<LineWindow[]> {
  const { from, to } = bodies
  const ends = equalLines(from, to)
  const olds = from.slice(ends.start, from.length - ends.end)
  const news = to.slice(ends.start, to.length - ends.end)
  if (olds.length + news.length === 0) return []
  const division = yield* known.divide()
  const partners = partnersOf(olds, news)
  const change = yield* nodesOf(olds, news, partners)
  const live = new LiveBlocks(known, division, from)
  // Blocks that stay unchanged are the same objects on both sides. Nobody asks for them by id.
  const staying = new Set(partners.map((partner) => change.from[partner]))
  const others = (nodes: readonly BodyNode[]) => nodes.filter((node) => !staying.has(node))
  const differing = { from: others(change.from), to: others(change.to) }
  const work = yield* newWork(fragment, differing, (id) => live.block(id))
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

/**
 * Finds blocks among the live top-level children, as `yPositions` does by reading the id of each child. Here only
 * children that are not known are read.
 */
class LiveBlocks {
  readonly #known: KnownElements
  readonly #division: Division
  readonly #from: readonly string[]
  /** The position of the first unknown child with an id at the top level. */
  readonly #unknown = onFirstUse(() => this.#unknownPositions())
  /** The first unknown block of an id at any level, with the position of its top-level child. */
  readonly #unknownBlocks = onFirstUse(() => this.#blocksOfUnknown())
  readonly #positionOf = onFirstUse(() => new Map(this.#division.children.map((child, position) => [child, position])))

  constructor(known: KnownElements, division: Division, from: readonly string[]) {
    this.#known = known
    this.#division = division
    this.#from = from
  }

  /** The positions of old siblings, whose indices count from an offset. */
  positions(offset: number): YPositions {
    let before: number | undefined
    for (let index = offset - 1; index >= 0 && before === undefined; index--) before = this.#ofLine(index)
    return {
      ofOld: (index) => this.#ofLine(offset + index),
      ofId: (id) => (id === undefined ? undefined : least(this.#unknown().get(id), this.#knownPosition(id))),
      before: before ?? -1,
    }
  }

  /** The first block with an id that is not deleted, at any level. */
  block(id: string): Y.XmlElement | undefined {
    const unknown = this.#unknownBlocks().get(id)
    let [found, position] = [unknown?.block, unknown?.position ?? Number.POSITIVE_INFINITY]
    for (const element of this.#known.withId(id)) {
      const at = this.#positionOf().get(element) ?? Number.POSITIVE_INFINITY
      const block = at < position ? blocksOf(element).get(id) : undefined
      if (block) [found, position] = [block, at]
    }
    return found
  }

  #ofLine(index: number): number | undefined {
    const { children, positions } = this.#division
    const id = topBlockId(this.#from[index] as string)
    // Where the Y document is not ahead, a block has its old index.
    if (children.length === this.#from.length && idOf(children[index]) === id) return index
    const known = positions[index] ?? -1
    return least(known < 0 ? undefined : known, this.#unknown().get(id))
  }

  #knownPosition(id: string): number | undefined {
    const element = this.#known.withId(id).find((one) => idOf(one) === id)
    return this.#positionOf().get(element)
  }

  #unknownPositions(): Map<string, number> {
    const found = new Map<string, number>()
    for (const { children, position } of this.#division.runs) {
      for (const [offset, child] of children.entries()) {
        const id = isInlineChild(child) ? undefined : idOf(child)
        if (id !== undefined && !found.has(id)) found.set(id, position + offset)
      }
    }
    return found
  }

  #blocksOfUnknown(): Map<string, { block: Y.XmlElement; position: number }> {
    const found = new Map<string, { block: Y.XmlElement; position: number }>()
    for (const { children, position } of this.#division.runs) {
      for (const [offset, child] of children.entries()) {
        for (const [id, block] of blocksOf(child))
          if (!found.has(id)) found.set(id, { block, position: position + offset })
      }
    }
    return found
  }
}

function least(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b)
}

function blocksOf(child: unknown): Map<string, Y.XmlElement> {
  return elementsById([child])
}
