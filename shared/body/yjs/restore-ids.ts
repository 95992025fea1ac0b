import * as Y from 'yjs'
import type { Slices } from '../../computations/slices.ts'
import type { BlockNode, BodyNode } from '../document.ts'
import { isBlockType } from '../nodes.ts'
import { matchSequences } from '../sequence.ts'
import { blockIdOf, shapeOf } from './align.ts'
import { childrenOf, idOf, readElement, setAttribute } from './encoding.ts'
import type { Division, KnownElements } from './known-elements.ts'
import type { Repair } from './repair-nodes.ts'
import { runSteps } from './steps.ts'

/**
 * Gives blocks back the ids that they lost. An editor that does not know the attribute `id` removes it from every node
 * around the text that somebody types. Each changed top-level element is compared with its last known line. A nested
 * block gets the id of the block that was at the same place. Where blocks came or went, it gets the id of the block
 * with the same content. An id that another block has now is not given back.
 */
export function* restoreIds(
  fragment: Y.XmlFragment,
  known: KnownElements,
  { runs }: Pick<Division, 'runs'>,
): Slices<Repair[]> {
  const children = runs.flatMap((run) => run.children)
  const losers = children.filter((child): child is Y.XmlElement => {
    return child instanceof Y.XmlElement && known.formerLine(child) !== undefined && lacksIds(child)
  })
  if (losers.length === 0) return []
  const given = yield* idsBelow(children)
  const lost: Lost[] = []
  for (const element of losers) {
    const former = JSON.parse(known.formerLine(element) as string) as BlockNode
    findLost(element, former, (block, id) => {
      if (given.has(id) || known.hasId(id)) return
      given.add(id)
      lost.push({ block, id })
    })
    yield
  }
  const steps = lost.map(({ block, id }) => ({ weight: 0.1, splices: 0, run: () => setAttribute(block, 'id', id) }))
  yield* runSteps(fragment, steps)
  return lost.map(({ block, id }) => ({ kind: 'id_restored', type: block.nodeName, block_id: id }))
}

type Lost = { block: Y.XmlElement; id: string }

/** True if a block, or a block in it, has no id. */
function lacksIds(element: Y.XmlElement): boolean {
  if (!isBlockType(element.nodeName)) return false
  return hasNoId(element) || blocksIn(element).some(lacksIds)
}

function hasNoId(element: Y.XmlElement): boolean {
  return (element.getAttribute('id') ?? null) === null
}

function blocksIn(element: Y.XmlElement): Y.XmlElement[] {
  return childrenOf(element).filter((child): child is Y.XmlElement => {
    return child instanceof Y.XmlElement && isBlockType(child.nodeName)
  })
}

/** The ids of all blocks at and below children. */
function* idsBelow(children: readonly unknown[]): Slices<Set<string>> {
  const ids = new Set<string>()
  const add = (child: unknown) => {
    if (!(child instanceof Y.XmlElement)) return
    const id = idOf(child)
    if (id !== undefined) ids.add(id)
    childrenOf(child).forEach(add)
  }
  for (const child of children) {
    add(child)
    yield
  }
  return ids
}

/** Calls `found` with each block that has lost its id, and with the id that it had. */
function findLost(element: Y.XmlElement, former: BodyNode, found: (block: Y.XmlElement, id: string) => void): void {
  if (element.nodeName !== former.type || !lacksIds(element)) return
  const id = blockIdOf(former)
  if (id !== undefined && hasNoId(element)) found(element, id)
  const blocks = blocksIn(element)
  const formers = (former.content ?? []).filter(({ type }) => isBlockType(type))
  for (const { a, b, length } of partnersOf(blocks, formers)) {
    for (let offset = 0; offset < length; offset++) {
      findLost(blocks[a + offset] as Y.XmlElement, formers[b + offset] as BodyNode, found)
    }
  }
}

/** The stretches of siblings whose former siblings follow each other as well. */
function partnersOf(
  blocks: readonly Y.XmlElement[],
  formers: readonly BodyNode[],
): { a: number; b: number; length: number }[] {
  if (blocks.length === formers.length) return [{ a: 0, b: 0, length: blocks.length }]
  const shape = (node: BodyNode) => JSON.stringify(shapeOf(node))
  return matchSequences(
    blocks.map((block) => shape(readElement(block))),
    formers.map(shape),
  )
}
