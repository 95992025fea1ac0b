import * as Y from 'yjs'
import { bodyFragment } from './encoding.ts'
import type { NewStruct, NewStructs } from './new-structs.ts'
import type { Id } from './update-reader.ts'

/** A Y type, as far as the place of a child follows from it. */
type Parent = Pick<Y.AbstractType<unknown>, '_item' | '_start' | '_map'>

/** Finds the names of the places where structs are inserted: the origin, or the list of which a struct is the first. */
export class Places {
  readonly #doc: Y.Doc
  readonly #byId: NewStructs
  /** The lists of the document in which structs without an origin are inserted: a parent and a key. */
  readonly lists = new Map<string, { parent: Parent; key: string | null }>()

  constructor(doc: Y.Doc, byId: NewStructs) {
    this.#doc = doc
    this.#byId = byId
  }

  /** The name of the place of a struct; null when the place is gone. */
  nameOf({ origin, ...node }: NewStruct): string | null {
    return origin === null ? this.#listOf(node) : idName(origin)
  }

  /** The name of the list to which a struct belongs, found by its neighbours. */
  #listOf(start: Id): string | null {
    const path: NewStruct[] = []
    let name: string | null = null
    for (let id: Id | null = start; id !== null; ) {
      const node: NewStruct | undefined = this.#byId.at(id)?.value
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

/** The item of the document that has an id; undefined when the document has none, or has forgotten it. */
export function itemAt({ store }: Y.Doc, { client, clock }: Id): Y.Item | undefined {
  if (Y.getState(store, client) <= clock) return undefined
  const item = Y.getItem(store, Y.createID(client, clock))
  return item instanceof Y.Item ? item : undefined
}

/** The name of a place behind an id. */
export function idName({ client, clock }: Id): string {
  return `${client}:${clock}`
}

/** True for the name of a list in which the values of an attribute stand. */
export function isAttributeList(place: string): boolean {
  return place.startsWith(attributeList)
}

const attributeList = 'attribute of '

function listName(parent: Id | null, key: string | null): string {
  const around = parent === null ? 'root' : idName(parent)
  return key === null ? `children of ${around}` : `${attributeList}${around} ${key}`
}
