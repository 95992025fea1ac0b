import * as Y from 'yjs'
import type { Slices } from '../../computations/slices.ts'
import type { BodyNode } from '../document.ts'
import { equalJson } from '../equal-json.ts'
import { inlineTypes } from '../nodes.ts'
import { blockIdOf, type Presence, type Siblings } from './align.ts'
import { BlocksById } from './blocks-by-id.ts'
import { childrenOf, idOf } from './encoding.ts'
import type { HeldIds } from './held-ids.ts'
import type { Step } from './steps.ts'

/**
 * A state of a change that is being applied: look-ups of blocks, and the steps that are planned so far.
 */
export type Work = Presence & {
  steps: Step[]
  liveBlock: (id: string | undefined) => Y.XmlElement | undefined
  /** The live block of an id, for a block that the change leaves in its place but that somebody has moved elsewhere. */
  strayBlock: (id: string | undefined) => Y.XmlElement | undefined
  keepsId: LiveIds['keepsId']
  /** An empty fragment outside the document, in which copies are put together. */
  scratch: () => Y.XmlFragment
}

/** A way to find live blocks by their ids. */
export type LiveIds = {
  /** The live block of an id. Of several blocks with the id, it is the block that keeps the id. */
  block: (id: string) => Y.XmlElement | undefined
  /** False for a child that has an id which another block keeps. */
  keepsId: (child: unknown, id: string) => boolean
}

/**
 * The live blocks of a document that is exactly as the old body. Each block was read a moment ago, so a block that is
 * made anew has nothing to take over from a live block.
 */
export const asRead: LiveIds = { block: () => undefined, keepsId: () => true }

/** The siblings that differ, in their old and in their new state. */
export type TopChange = { from: Siblings; to: Siblings }

/**
 * A plan without steps. Only the blocks of the change are indexed, because none of the other blocks moved, came or
 * went. By default all live blocks are indexed, the outermost block of an id is found, and no other block is left out.
 */
export function* newWork(
  fragment: Y.XmlFragment,
  { from, to }: TopChange,
  { block, keepsId }: LiveIds = { ...liveIds(fragment), keepsId: () => true },
): Slices<Work> {
  const news = yield* blocksById(to, (first) => first)
  const olds = yield* blocksById(from, (first, other, id) => keeperOf(first, other, news.get(id)))
  const live = (id: string | undefined) => (id === undefined ? undefined : block(id))
  return {
    steps: [],
    oldBlock: (id) => (id === undefined ? undefined : olds.get(id)),
    liveBlock: live,
    strayBlock: live,
    keepsId,
    scratch: onFirstUse(() => new Y.Doc().getXmlFragment()),
    isNew: (node) => !olds.has(blockIdOf(node) ?? ''),
    isGone: (node) => {
      const id = blockIdOf(node)
      return id === undefined || !news.has(id) || olds.get(id) !== node
    },
  }
}

/** Finds the live blocks of a whole document. Without held ids, all blocks with one id have the same rank. @internal */
export function liveIds(fragment: Y.XmlFragment, held?: HeldIds): LiveIds {
  const blocks = onFirstUse(() => {
    const found = new BlocksById(held?.rankOf)
    for (const child of childrenOf(fragment)) found.add(child)
    return found
  })
  return { block: (id) => blocks().get(id), keepsId: (child, id) => blocks().get(id) === child }
}

/**
 * The live children of a parent, with the old siblings among them. The children from `start` up to `end` belong to the
 * change.
 */
export type Place = { live: readonly unknown[]; positions: YPositions; start: number; end: number }

/** An index that a child has among the live children of a Y element or fragment. */
export type YPosition = number

/** A set of functions that find blocks among live children. The Y document may be ahead of the body that it follows. */
export type YPositions = {
  /**
   * The position of the old sibling whose index counts from the offset; undefined when somebody has removed the block.
   */
  ofOld: (index: number) => YPosition | undefined
  /** The position of the child that keeps the id of a block. */
  ofId: (id: string | undefined) => YPosition | undefined
  /** The position of the last child that is an old sibling before the offset, or -1. */
  before: YPosition
}

/** The live children of a parent, and the old siblings among them. */
type LiveSiblings = { live: readonly unknown[]; from: Siblings; keepsId: LiveIds['keepsId'] }

/**
 * Finds old siblings among the live children. Where the Y document is not ahead, a sibling has its old index. Elsewhere
 * a sibling is found by its id. Blocks with the same id or without an id are matched in order. Texts between blocks are
 * left out, and so are copies of a block that keeps its id.
 */
export function yPositions({ live, from, offset, keepsId }: LiveSiblings & { offset: number }): YPositions {
  const isLevel = live.length === from.length
  const byOrder = onFirstUse(() => matchByOrder({ live, from, keepsId }))
  const positionOf = (index: number) => {
    const id = blockIdOf(from[index] ?? { type: 'text' })
    if (isLevel && id !== undefined && idOf(live[index]) === id && keepsId(live[index], id)) return index
    return byOrder().positions[index]
  }
  let before: number | undefined
  for (let index = offset - 1; index >= 0 && before === undefined; index--) before = positionOf(index)
  return {
    ofOld: (index) => positionOf(offset + index),
    ofId: (id) => byOrder().first.get(id ?? ''),
    before: before ?? -1,
  }
}

/** True if a live child is text or an inline node, neither of which may stand between blocks. */
export function isInlineChild(child: unknown): boolean {
  return child instanceof Y.XmlText || (child instanceof Y.XmlElement && inlineTypes.has(child.nodeName))
}

/** Makes a value when it is first asked for. */
export function onFirstUse<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** Of two old blocks with one id, the block that is equal to the new block of the id, else the first. */
function keeperOf(first: BodyNode, other: BodyNode, next: BodyNode | undefined): BodyNode {
  return equalJson(other, next) && !equalJson(first, next) ? other : first
}

type Choice = (first: BodyNode, other: BodyNode, id: string) => BodyNode

function* blocksById(nodes: Siblings, choose: Choice): Slices<Map<string, BodyNode>> {
  const found = new Map<string, BodyNode>()
  const add = (node: BodyNode) => {
    const id = blockIdOf(node)
    const first = id === undefined ? undefined : found.get(id)
    if (id !== undefined) found.set(id, first ? choose(first, node, id) : node)
    node.content?.forEach(add)
  }
  for (const node of nodes) {
    add(node)
    yield
  }
  return found
}

type Order = { positions: (YPosition | undefined)[]; first: Map<string, number> }

function matchByOrder({ live, from, keepsId }: LiveSiblings): Order {
  const first = new Map<string, number>()
  // Only blocks without an id, or with the id of an earlier block, need a list.
  const others = new Map<string, number[]>()
  live.forEach((child, index) => {
    if (isInlineChild(child)) return
    const id = idOf(child) ?? ''
    if (id !== '' && !keepsId(child, id)) return
    if (id !== '' && !first.has(id)) first.set(id, index)
    else if (!others.get(id)?.push(index)) others.set(id, [index])
  })
  const met = new Map<string, number>()
  const positions = from.map((node) => {
    if (inlineTypes.has(node.type)) return undefined
    const id = blockIdOf(node) ?? ''
    const before = met.get(id) ?? (id === '' ? 1 : 0)
    met.set(id, before + 1)
    return before === 0 ? first.get(id) : others.get(id)?.[before - 1]
  })
  return { positions, first }
}
