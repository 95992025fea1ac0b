import * as Y from 'yjs'
import type { BodyNode } from '../document.ts'
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
