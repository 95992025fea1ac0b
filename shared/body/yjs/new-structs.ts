import * as Y from 'yjs'
import { IdMap } from './id-ranges.ts'
import type { Struct } from './update-reader.ts'

/**
 * A struct of the update that the document lacks. `weight` is the number of structs of the update that descend from it
 * by their origins, itself included, and the number of cuts that structs make in them.
 */
export type NewStruct = Pick<Struct, 'client' | 'clock' | 'length' | 'origin' | 'rightOrigin' | 'parent' | 'key'> & {
  weight: number
  place: string | null | 'open' | undefined
}

/** The new structs of an update by their ids. */
export type NewStructs = IdMap<NewStruct>

/** Collects the structs of an update that the document lacks. */
export function newStructs(doc: Y.Doc, inserted: readonly Struct[]): { nodes: NewStruct[]; byId: NewStructs } {
  const nodes: NewStruct[] = []
  const byId: NewStructs = new IdMap()
  for (const { client, clock, length, kind, origin, rightOrigin, parent, key } of inserted) {
    const known = Y.getState(doc.store, client)
    if (kind === 'skip' || kind === 'gc' || clock + length <= known) continue
    // Of a struct that is known in part, Yjs takes the rest, which follows the known part.
    const isRest = clock < known
    const node: NewStruct = {
      client,
      clock: Math.max(clock, known),
      length: clock + length - Math.max(clock, known),
      origin: isRest ? { client, clock: known - 1 } : origin,
      rightOrigin,
      parent: isRest ? null : parent,
      key,
      weight: 1,
      place: undefined,
    }
    nodes.push(node)
    byId.add({ client, clock: node.clock, length: node.length, value: node })
  }
  return { nodes, byId }
}

/** Adds to the weight of each struct the weights of those that follow it. */
export function weigh(nodes: readonly NewStruct[], byId: NewStructs): void {
  const before = ({ origin }: NewStruct) => (origin === null ? undefined : byId.at(origin)?.value)
  for (const node of nodes) {
    const right = node.rightOrigin === null ? undefined : byId.at(node.rightOrigin)?.value
    if (right && right.clock !== node.rightOrigin?.clock) right.weight += 1
    const left = before(node)
    if (left && node.origin?.clock !== left.clock + left.length - 1) left.weight += 1
  }
  for (const node of leavesFirst(nodes, before)) {
    const parent = before(node)
    if (parent) parent.weight += node.weight
  }
}

/**
 * The structs of trees, each before its parent. Structs that are their own ancestors are left out, because Yjs never
 * places them.
 */
export function leavesFirst(
  nodes: readonly NewStruct[],
  parentOf: (node: NewStruct) => NewStruct | undefined,
): NewStruct[] {
  const children = new Map<NewStruct, number>()
  for (const node of nodes) add(children, parentOf(node), 1)
  const order = nodes.filter((node) => !children.has(node))
  for (const node of order) {
    const parent = parentOf(node)
    if (parent === undefined) continue
    add(children, parent, -1)
    if (children.get(parent) === 0) order.push(parent)
  }
  return order
}

/** Adds a value to the sum of a struct, if there is one. */
export function add(sums: Map<NewStruct, number>, node: NewStruct | undefined, value: number): void {
  if (node) sums.set(node, (sums.get(node) ?? 0) + value)
}
