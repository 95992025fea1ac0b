import type * as Y from 'yjs'
import { DocumentSteps } from './document-steps.ts'
import { add, leavesFirst, type NewStruct, type NewStructs, newStructs, weigh } from './new-structs.ts'
import { idName, isAttributeList, Places } from './places.ts'
import type { Struct } from './update-reader.ts'

/**
 * An upper bound of the steps that Yjs takes to find the places of an update's structs in a document. The answer is
 * above `limit` as soon as the bound is. The work is in proportion to the update and to the limit.
 *
 * Yjs places a struct behind its left neighbour `origin`. When other structs stand between the two neighbours, Yjs
 * looks at each of them. They are structs that the author did not know. They descend from the same origin, by their own
 * origins. So the structs of an editor cost steps only where others have written at the same place at the same time,
 * but a client can make up an update in which each struct costs a step for each other struct.
 */
export function placingSteps(doc: Y.Doc, inserted: readonly Struct[], limit: number): number {
  const { nodes, byId } = newStructs(doc, inserted)
  const places = new Places(doc, byId)
  const groups = new Map<string, NewStruct[]>()
  for (const node of nodes) {
    const name = places.nameOf(node)
    const group = name === null ? undefined : groups.get(name)
    if (group) group.push(node)
    else if (name !== null) groups.set(name, [node])
  }
  weigh(nodes, byId)
  const document = new DocumentSteps(doc, places, nodes, limit)
  let steps = 0
  for (const [name, group] of groups) {
    steps += stepsOfGroup(name, group, { byId, document })
    if (steps > limit) break
  }
  return steps
}

type Surroundings = { byId: NewStructs; document: DocumentSteps }

/**
 * The steps of the structs with one origin. Each steps over all others, but for those to the right of the struct at
 * which Yjs ends, and those that come after it, because they end at it.
 */
function stepsOfGroup(place: string, group: readonly NewStruct[], { byId, document }: Surroundings): number {
  const ends = endsIn(place, group, byId)
  const rightOf = (node: NewStruct) => ends.get(node)
  const order = leavesFirst(group, rightOf)
  const total = group.reduce((sum, { weight }) => sum + weight, 0)
  const later = new Map(group.map((node) => [node, node.weight]))
  for (const node of order) add(later, rightOf(node), later.get(node) ?? 0)
  const earlier = new Map<NewStruct, number>()
  const others = new Map<NewStruct, number>()
  let steps = 0
  for (const node of order.reverse()) {
    const right = rightOf(node)
    const own = (right && earlier.get(right)) ?? 0
    earlier.set(node, own + node.weight)
    const known = (right && others.get(right)) ?? othersAt(node, place, { byId, document })
    others.set(node, known)
    steps += known + total - own - (later.get(node) ?? 0)
  }
  return steps
}

/**
 * The struct with the same origin at which Yjs ends at the latest: an earlier struct of the client with the same right
 * neighbour, or the right neighbour. In the list of an attribute Yjs begins at the end.
 */
function endsIn(place: string, group: readonly NewStruct[], byId: NewStructs): Map<NewStruct, NewStruct> {
  const ends = new Map<NewStruct, NewStruct>()
  if (group.length === 1 || isAttributeList(place)) return ends
  const members = new Set(group)
  const earlier = new Map<string, NewStruct>()
  for (const node of group) {
    const { client, rightOrigin } = node
    const name = `${client} ${rightOrigin === null ? '' : idName(rightOrigin)}`
    const right = rightOrigin === null ? undefined : byId.at(rightOrigin)?.value
    const isMember = right !== undefined && right.clock === rightOrigin?.clock && members.has(right)
    const end = earlier.get(name) ?? (isMember ? right : undefined)
    if (end) ends.set(node, end)
    earlier.set(name, node)
  }
  return ends
}

/** The steps over what stands behind the origin of a struct, besides the structs with the same origin. */
function othersAt(node: NewStruct, place: string, { byId, document }: Surroundings): number {
  const { origin, rightOrigin } = node
  const left = origin === null ? undefined : byId.at(origin)?.value
  if (!left || !origin) return document.between(node, place)
  const isInside = origin.clock < left.clock + left.length - 1
  const isNext = rightOrigin?.client === left.client && rightOrigin.clock === origin.clock + 1
  return isInside && !isNext ? left.weight : 0
}
