import type { Slices } from '../../computations/slices.ts'
import type { BodyNode } from '../document.ts'
import { equalJson } from '../equal-json.ts'
import { inlineTypes } from '../nodes.ts'
import { longestIncreasing, matchSequences } from '../sequence.ts'
import { matchSimilar } from './align-similar.ts'

/** A list of sibling nodes: the children of one block, or of the document. */
export type Siblings = readonly BodyNode[]

/**
 * A pair of functions that tell which blocks exist in the old and in the new document. So a moved block can be told
 * from a new block.
 */
export type Presence = {
  /** True if no block of the old document has the id of the node. */
  isNew: (node: BodyNode) => boolean
  /** True if the new document has no block with the id of this old block, or takes another old block for it. */
  isGone: (node: BodyNode) => boolean
  /** The old block of an id. Of several old blocks with the id, it is the block that keeps the id. */
  oldBlock: (id: string | undefined) => BodyNode | undefined
}

/**
 * Returns for every new sibling the index of the old sibling that stays in its place, or -1 if the new sibling must be
 * inserted. Blocks are matched by id, and as few blocks as possible count as moved. When an old block goes and a new
 * block with the same or a similar content comes at its position, both count as one block. So a block that gets an id,
 * or another id, stays where it is, and with it the carets of the people who type there.
 */
export function* alignSiblings(from: Siblings, to: Siblings, presence: Presence): Slices<number[]> {
  const places = placesById(from, presence)
  const candidates = to.map((node) => places.get(blockIdOf(node)) ?? -1)
  const partners = new Array<number>(to.length).fill(-1)
  for (const index of longestIncreasing(candidates)) partners[index] = candidates[index] ?? -1
  yield* renameWithinGaps({ from, to, partners, presence })
  pairSingles({ from, to, partners, presence })
  return partners
}

/** The index of the old sibling of each id. Of several siblings with an id, it is the sibling that keeps the id. */
export function placesById(from: Siblings, { oldBlock }: Presence): Map<string | undefined, number> {
  const places = new Map<string | undefined, number>()
  from.forEach((node, index) => {
    const id = blockIdOf(node)
    if (id !== undefined && (!places.has(id) || oldBlock(id) === node)) places.set(id, index)
  })
  return places
}

/**
 * The number of equal siblings at the start and at the end. As a rule nearly all siblings are equal, and equal siblings
 * need no further work.
 */
export function equalEnds(from: Siblings, to: Siblings): { start: number; end: number } {
  const shorter = Math.min(from.length, to.length)
  let start = 0
  while (start < shorter && equalJson(from[start], to[start])) start += 1
  let end = 0
  while (end < shorter - start && equalJson(from.at(-1 - end), to.at(-1 - end))) end += 1
  return { start, end }
}

/** The id of a block, if it has one. An inline node has no block id: the `id` of a mention is the id of a person. */
export function blockIdOf(node: BodyNode): string | undefined {
  const id = inlineTypes.has(node.type) ? undefined : node.attrs?.id
  return typeof id === 'string' ? id : undefined
}

/** Siblings to align. `partners` has for each new sibling the index of its old one, or -1; pairs are added to it. */
export type Alignment = {
  from: Siblings
  to: Siblings
  partners: number[]
  presence: Pick<Presence, 'isNew' | 'isGone'>
}

function* renameWithinGaps({ from, to, partners, presence }: Alignment): Slices<void> {
  for (const { olds, news } of gapsOf({ from, to, partners, presence })) {
    if (olds.length === 0 || news.length === 0) continue
    for (const { old, next } of yield* matchContents({ from, to, olds, news })) partners[next] = old
  }
}

/** Pairs the only new block between two neighbors with the only one that is gone there, if they have the same type. */
export function pairSingles({ from, to, partners, presence }: Alignment): void {
  for (const { olds, news } of gapsOf({ from, to, partners, presence })) {
    const [old, next] = [olds[0] ?? -1, news[0] ?? -1]
    if (olds.length === 1 && news.length === 1 && from[old]?.type === to[next]?.type) partners[next] = old
  }
}

/** What is gone and what is new between the siblings that stay in their order. */
function gapsOf({ from, to, partners, presence }: Alignment): { olds: number[]; news: number[] }[] {
  const paired = new Set(partners)
  const stay = longestIncreasing(partners).map((index) => ({ partner: partners[index] ?? -1, index }))
  let [fromStart, toStart] = [0, 0]
  return [...stay, { partner: from.length, index: to.length }].map(({ partner, index }) => {
    const news = indices(toStart, index).filter((i) => partners[i] === -1 && isAt(to, i, presence.isNew))
    const olds = indices(fromStart, partner).filter((i) => !paired.has(i) && isAt(from, i, presence.isGone))
    fromStart = partner + 1
    toStart = index + 1
    return { olds, news }
  })
}

/** The indices of old and of new siblings to pair. Two blocks are equal if they have the same `shape`. */
type Contents = {
  from: Siblings
  to: Siblings
  olds: readonly number[]
  news: readonly number[]
  shape?: (node: BodyNode) => unknown
  maxWords?: number
}

/** Pairs blocks by their content, in order: first equal blocks, and between them similar blocks. */
export function* matchContents(contents: Contents): Slices<{ old: number; next: number }[]> {
  const { from, to, olds, news, shape = shapeOf, ...options } = contents
  const pairs: { old: number; next: number }[] = []
  const pair = (a: number, b: number) => pairs.push({ old: olds[a] ?? -1, next: news[b] ?? -1 })
  let [oldStart, newStart] = [0, 0]
  const keys = [yield* keysOf(from, olds, shape), yield* keysOf(to, news, shape)] as const
  const equal = matchSequences(...keys, { longest: true })
  for (const { a, b, length } of [...equal, { a: olds.length, b: news.length, length: 0 }]) {
    const others = nodesAt(from, olds.slice(oldStart, a))
    const similar = yield* matchSimilar(others, nodesAt(to, news.slice(newStart, b)), options)
    for (const [index, old] of similar.entries()) {
      if (old >= 0) pair(oldStart + old, newStart + index)
    }
    for (let offset = 0; offset < length; offset++) pair(a + offset, b + offset)
    oldStart = a + length
    newStart = b + length
  }
  return pairs
}

function nodesAt(nodes: Siblings, which: readonly number[]): BodyNode[] {
  return which.flatMap((index) => nodes[index] ?? [])
}

function indices(start: number, end: number): number[] {
  return Array.from({ length: Math.max(end - start, 0) }, (_, offset) => start + offset)
}

function isAt(nodes: Siblings, index: number, test: (node: BodyNode) => boolean): boolean {
  const node = nodes[index]
  return node !== undefined && test(node)
}

function* keysOf(nodes: Siblings, which: readonly number[], shape: (node: BodyNode) => unknown): Slices<string[]> {
  const found: string[] = []
  for (const index of which) {
    found.push(JSON.stringify(shape(nodes[index] as BodyNode)))
    yield
  }
  return found
}

/** Everything that is in a block apart from ids, as JSON. */
export function shapeOf({ type, attrs = {}, content = [], marks = [], text }: BodyNode): unknown[] {
  const members = Object.entries(attrs).filter(([name, value]) => name !== 'id' && value !== null)
  return [type, members.sort(([a], [b]) => (a < b ? -1 : 1)), content.map(shapeOf), marks, text]
}
