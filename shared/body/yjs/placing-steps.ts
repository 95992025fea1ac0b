import * as Y from 'yjs'
import { bodyFragment } from './encoding.ts'
import { IdMap } from './id-ranges.ts'
import type { Id, Struct } from './update-reader.ts'

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
  const { nodes, byId } = newNodes(doc, inserted)
  const places = new Places(doc, byId)
  const groups = new Map<string, Node[]>()
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

/**
 * A struct of the update that the document lacks. `weight` is the number of structs of the update that descend from it
 * by their origins, itself included, and the number of cuts that structs make in them.
 */
type Node = Pick<Struct, 'client' | 'clock' | 'length' | 'origin' | 'rightOrigin' | 'parent' | 'key'> & {
  weight: number
  place: string | null | 'open' | undefined
}
type Nodes = IdMap<Node>

function newNodes(doc: Y.Doc, inserted: readonly Struct[]): { nodes: Node[]; byId: Nodes } {
  const nodes: Node[] = []
  const byId: Nodes = new IdMap()
  for (const { client, clock, length, kind, origin, rightOrigin, parent, key } of inserted) {
    const known = Y.getState(doc.store, client)
    if (kind === 'skip' || kind === 'gc' || clock + length <= known) continue
    // Of a struct that is known in part, Yjs takes the rest, which follows the known part.
    const isRest = clock < known
    const node: Node = {
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

/** A Y type, as far as the place of a child follows from it. */
type Parent = Pick<Y.AbstractType<unknown>, '_item' | '_start' | '_map'>

/** Finds the names of the places where structs are inserted: the origin, or the list of which a struct is the first. */
class Places {
  readonly #doc: Y.Doc
  readonly #byId: Nodes
  /** The lists of the document in which structs without an origin are inserted: a parent and a key. */
  readonly lists = new Map<string, { parent: Parent; key: string | null }>()

  constructor(doc: Y.Doc, byId: Nodes) {
    this.#doc = doc
    this.#byId = byId
  }

  /** The name of the place of a struct; null when the place is gone. */
  nameOf({ origin, ...node }: Node): string | null {
    return origin === null ? this.#listOf(node) : idName(origin)
  }

  /** The name of the list to which a struct belongs, found by its neighbours. */
  #listOf(start: Id): string | null {
    const path: Node[] = []
    let name: string | null = null
    for (let id: Id | null = start; id !== null; ) {
      const node: Node | undefined = this.#byId.at(id)?.value
      if (node === undefined) {
        name = this.#listInDocument(id)
        break
      }
      if (node.place !== undefined) {
        name = node.place
        break
      }
      node.place = 'open'
      path.push(node)
      if (node.parent !== null) {
        name = this.#named(node.parent, node.key)
        break
      }
      id = node.origin ?? node.rightOrigin
    }
    for (const node of path) node.place = name
    return name
  }

  #listInDocument(id: Id): string | null {
    const item = itemAt(this.#doc, id)
    if (!(item?.parent instanceof Y.AbstractType)) return null
    return this.#noted(item.parent, item.parentSub)
  }

  #named(parent: Id | string, key: string | null): string | null {
    if (typeof parent === 'string') return this.#noted(bodyFragment(this.#doc), null)
    if (this.#byId.at(parent) !== undefined) return listName(parent, key)
    const content = itemAt(this.#doc, parent)?.content
    return content instanceof Y.ContentType ? this.#noted(content.type, key) : null
  }

  #noted(parent: Parent, key: string | null): string {
    const name = listName(parent._item?.id ?? null, key)
    this.lists.set(name, { parent, key })
    return name
  }
}

/** The steps over what the document has at the place of a struct. */
class DocumentSteps {
  readonly #doc: Y.Doc
  readonly #lists: Places['lists']
  /** The weights of the structs whose origins are in an item, and the number of cuts that structs make in it. */
  readonly #hanging = new Map<Y.Item, number>()
  readonly #limit: number
  #taken = 0

  constructor(doc: Y.Doc, { lists }: Places, nodes: readonly Node[], limit: number) {
    this.#doc = doc
    this.#lists = lists
    this.#limit = limit
    for (const { origin, rightOrigin, weight } of nodes) {
      this.#hang(origin, weight + 1)
      this.#hang(rightOrigin, 1)
    }
  }

  /** The steps from the origin to the right neighbour of a struct, or to the first item that is no descendant. */
  between({ origin, rightOrigin }: Node, place: string): number {
    const left = origin === null ? null : itemAt(this.#doc, origin)
    if (left === undefined) return 0
    const isInside = left !== null && origin !== null && origin.clock < left.id.clock + left.length - 1
    if (isInside && rightOrigin?.client === left.id.client && rightOrigin.clock === origin.clock + 1) return 0
    const walked = new Set<Y.Item>(isInside ? [left] : [])
    let steps = isInside ? this.#weightOf(left) : 0
    for (let item = left === null ? this.#firstOf(place) : left.right; item; item = item.right) {
      if (this.#taken > this.#limit) break
      if (holds(item, rightOrigin)) {
        if (item.id.clock !== rightOrigin?.clock) steps += this.#weightOf(item)
        break
      }
      const before = item.origin && itemAt(this.#doc, item.origin)
      if (!sameId(item.origin, origin) && !(before && walked.has(before))) break
      walked.add(item)
      this.#taken += 1
      steps += this.#weightOf(item)
    }
    return this.#taken > this.#limit ? this.#limit + 1 : steps
  }

  #hang(id: Id | null, weight: number): void {
    const item = id && itemAt(this.#doc, id)
    if (item) this.#hanging.set(item, (this.#hanging.get(item) ?? 0) + weight)
  }

  #weightOf(item: Y.Item): number {
    return 1 + (this.#hanging.get(item) ?? 0)
  }

  #firstOf(place: string): Y.Item | null {
    const list = this.#lists.get(place)
    if (list === undefined || list.key === null) return list?.parent._start ?? null
    let first = list.parent._map.get(list.key) ?? null
    for (; first?.left && this.#taken <= this.#limit; first = first.left) this.#taken += 1
    return first
  }
}

type Surroundings = { byId: Nodes; document: DocumentSteps }

/**
 * The steps of the structs with one origin. Each steps over all others, but for those to the right of the struct at
 * which Yjs ends, and those that come after it, because they end at it.
 */
function stepsOfGroup(place: string, group: readonly Node[], { byId, document }: Surroundings): number {
  const ends = endsIn(place, group, byId)
  const rightOf = (node: Node) => ends.get(node)
  const order = leavesFirst(group, rightOf)
  const total = group.reduce((sum, { weight }) => sum + weight, 0)
  const later = new Map(group.map((node) => [node, node.weight]))
  for (const node of order) add(later, rightOf(node), later.get(node) ?? 0)
  const earlier = new Map<Node, number>()
  const others = new Map<Node, number>()
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
function endsIn(place: string, group: readonly Node[], byId: Nodes): Map<Node, Node> {
  const ends = new Map<Node, Node>()
  if (group.length === 1 || place.startsWith(attributeList)) return ends
  const members = new Set(group)
  const earlier = new Map<string, Node>()
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
function othersAt(node: Node, place: string, { byId, document }: Surroundings): number {
  const { origin, rightOrigin } = node
  const left = origin === null ? undefined : byId.at(origin)?.value
  if (!left || !origin) return document.between(node, place)
  const isInside = origin.clock < left.clock + left.length - 1
  const isNext = rightOrigin?.client === left.client && rightOrigin.clock === origin.clock + 1
  return isInside && !isNext ? left.weight : 0
}

/** Adds to the weight of each struct the weights of those that follow it. */
function weigh(nodes: readonly Node[], byId: Nodes): void {
  const before = ({ origin }: Node) => (origin === null ? undefined : byId.at(origin)?.value)
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
 * The nodes of trees, each before its parent. Nodes that are their own ancestors are left out, because Yjs never places
 * such nodes.
 */
function leavesFirst(nodes: readonly Node[], parentOf: (node: Node) => Node | undefined): Node[] {
  const children = new Map<Node, number>()
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

function add(sums: Map<Node, number>, node: Node | undefined, value: number): void {
  if (node) sums.set(node, (sums.get(node) ?? 0) + value)
}

function itemAt({ store }: Y.Doc, { client, clock }: Id): Y.Item | undefined {
  if (Y.getState(store, client) <= clock) return undefined
  const item = Y.getItem(store, Y.createID(client, clock))
  return item instanceof Y.Item ? item : undefined
}

function holds({ id, length }: Y.Item, sought: Id | null): boolean {
  return sought?.client === id.client && sought.clock >= id.clock && sought.clock < id.clock + length
}

function sameId(a: Id | null, b: Id | null): boolean {
  return a?.client === b?.client && a?.clock === b?.clock
}

function idName({ client, clock }: Id): string {
  return `${client}:${clock}`
}

const attributeList = 'attribute of '

function listName(parent: Id | null, key: string | null): string {
  const around = parent === null ? 'root' : idName(parent)
  return key === null ? `children of ${around}` : `${attributeList}${around} ${key}`
}
