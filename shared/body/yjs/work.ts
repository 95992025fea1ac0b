import * as Y from 'yjs'
import type { BodyNode } from '../document.ts'
import { inlineTypes } from '../nodes.ts'
import { blockIdOf, type Presence, type Siblings } from './align.ts'
import { childrenOf, idOf } from './encoding.ts'

/** What is known and planned while a change is being applied. The indices by id are made on first use. */
export type Work = Presence & {
  steps: (() => void)[]
  oldBlock: (id: string | undefined) => BodyNode | undefined
  liveBlock: (id: string | undefined) => Y.XmlElement | undefined
  /** As `liveBlock`, for a block that stays where it is but was taken elsewhere by somebody. */
  strayBlock: (id: string | undefined) => Y.XmlElement | undefined
  /** An empty element list outside the document, to put copies together in. */
  scratch: () => Y.XmlFragment
}

/** What changes at the top: the blocks of both bodies, and how many are equal at either end. */
export type TopChange = { from: Siblings; to: Siblings; ends: { start: number; end: number } }

/** A plan without steps. What is equal at either end holds no block that moved, came or went. */
export function newWork(fragment: Y.XmlFragment, { from, to, ends }: TopChange): Work {
  const olds = onFirstUse(() => blocksById(from.slice(ends.start, from.length - ends.end)))
  const news = onFirstUse(() => blocksById(to.slice(ends.start, to.length - ends.end)))
  const lives = onFirstUse(() => elementsById(fragment))
  const liveBlock = (id: string | undefined) => (id === undefined ? undefined : lives().get(id))
  return {
    steps: [],
    oldBlock: (id) => (id === undefined ? undefined : olds().get(id)),
    liveBlock,
    strayBlock: liveBlock,
    scratch: onFirstUse(() => new Y.Doc().getXmlFragment()),
    isNew: (node) => !olds().has(blockIdOf(node) ?? ''),
    isGone: (node) => {
      const id = blockIdOf(node)
      return id === undefined || !news().has(id) || olds().get(id) !== node
    },
  }
}

/** A value that is made when it is first asked for. */
export function onFirstUse<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

function blocksById(nodes: Siblings, found = new Map<string, BodyNode>()): Map<string, BodyNode> {
  for (const node of nodes) {
    const id = blockIdOf(node)
    if (id !== undefined && !found.has(id)) found.set(id, node)
    if (node.content) blocksById(node.content, found)
  }
  return found
}

function elementsById(parent: Y.XmlFragment, found = new Map<string, Y.XmlElement>()): Map<string, Y.XmlElement> {
  for (const child of childrenOf(parent)) {
    if (!(child instanceof Y.XmlElement)) continue
    const id = idOf(child)
    if (id !== undefined && !found.has(id)) found.set(id, child)
    elementsById(child, found)
  }
  return found
}

/** Where blocks stand among the children of an element or fragment, which may be ahead of the body it follows. */
export type LivePlaces = {
  /** The index of the child that is the old sibling so far behind the offset, unless somebody took it away. */
  ofOld: (index: number) => number | undefined
  /** The index of the first child that carries the id of a block. */
  ofId: (id: string | undefined) => number | undefined
  /** The index of the last child that is an old sibling before the offset, or -1. */
  before: number
}

/**
 * Finds old siblings among the live children: at their own index if the document is not ahead there, else by id, and
 * where ids are doubled or missing by their order. Texts between blocks are passed over.
 */
export function livePlaces(input: { live: readonly unknown[]; from: Siblings; offset: number }): LivePlaces {
  const { live, from, offset } = input
  const isLevel = live.length === from.length
  const byOrder = onFirstUse(() => matchByOrder(live, from))
  const placeOf = (index: number) => {
    const id = blockIdOf(from[index] ?? { type: 'text' })
    if (isLevel && id !== undefined && idOf(live[index]) === id) return index
    return byOrder().places[index]
  }
  let before: number | undefined
  for (let index = offset - 1; index >= 0 && before === undefined; index--) before = placeOf(index)
  return {
    ofOld: (index) => placeOf(offset + index),
    ofId: (id) => byOrder().first.get(id ?? ''),
    before: before ?? -1,
  }
}

type Order = { places: (number | undefined)[]; first: Map<string, number> }

function matchByOrder(live: readonly unknown[], from: Siblings): Order {
  const first = new Map<string, number>()
  // Only what has no id, or one that came before, needs a list of its own.
  const others = new Map<string, number[]>()
  live.forEach((child, index) => {
    if (isInlineChild(child)) return
    const id = idOf(child) ?? ''
    if (id !== '' && !first.has(id)) first.set(id, index)
    else if (!others.get(id)?.push(index)) others.set(id, [index])
  })
  const met = new Map<string, number>()
  const places = from.map((node) => {
    if (inlineTypes.has(node.type)) return undefined
    const id = blockIdOf(node) ?? ''
    const before = met.get(id) ?? (id === '' ? 1 : 0)
    met.set(id, before + 1)
    return before === 0 ? first.get(id) : others.get(id)?.[before - 1]
  })
  return { places, first }
}

/** True if a live child is text or an inline node, which have no place between blocks. */
export function isInlineChild(child: unknown): boolean {
  return child instanceof Y.XmlText || (child instanceof Y.XmlElement && inlineTypes.has(child.nodeName))
}
