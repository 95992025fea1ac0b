import type * as Y from 'yjs'
import type { NewStruct } from './new-structs.ts'
import { itemAt, type Places } from './places.ts'
import type { Id } from './update-reader.ts'

/** The steps over what the document has at the place of a struct. */
export class DocumentSteps {
  readonly #doc: Y.Doc
  readonly #lists: Places['lists']
  /** The weights of the structs whose origins are in an item, and the number of cuts that structs make in it. */
  readonly #hanging = new Map<Y.Item, number>()
  readonly #limit: number
  #taken = 0

  constructor(doc: Y.Doc, { lists }: Places, nodes: readonly NewStruct[], limit: number) {
    this.#doc = doc
    this.#lists = lists
    this.#limit = limit
    for (const { origin, rightOrigin, weight } of nodes) {
      this.#hang(origin, weight + 1)
      this.#hang(rightOrigin, 1)
    }
  }

  /** The steps from the origin to the right neighbour of a struct, or to the first item that is no descendant. */
  between({ origin, rightOrigin }: NewStruct, place: string): number {
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

function holds({ id, length }: Y.Item, sought: Id | null): boolean {
  return sought?.client === id.client && sought.clock >= id.clock && sought.clock < id.clock + length
}

function sameId(a: Id | null, b: Id | null): boolean {
  return a?.client === b?.client && a?.clock === b?.clock
}
