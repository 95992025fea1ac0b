import * as Y from 'yjs'
import type { IdRange } from './id-ranges.ts'

/*
 * Everything that this service uses of the inside of Yjs. The members are in the types of Yjs, but its documentation
 * does not name them, so a new version may change them. README.md says which tests notice.
 */

/**
 * The item that holds a type in its parent; null for a root, and for what is no type. Yjs finds a child by its index
 * only in a walk over all children, and tells only through the item that a type was deleted and which id it has.
 */
export function itemOf(type: unknown): Y.Item | null {
  return type instanceof Y.AbstractType ? type._item : null
}

/** The items of a type in their order, deleted ones included, which the public iterators leave out. */
export function* itemsIn({ _start }: Pick<Y.XmlElement | Y.XmlText, '_start'>): Generator<Y.Item> {
  for (let item = _start; item; item = item.right) yield item
}

/** The latest item of each attribute of an element, also of a deleted element, which has no public attributes. */
export function attributeItems({ _map }: Pick<Y.XmlElement | Y.XmlText, '_map'>): ReadonlyMap<string, Y.Item> {
  return _map
}

/** The structs of a document that have ids of a range, in ascending order. */
export function* structsIn({ store }: Y.Doc, { client, clock, length }: IdRange): Generator<Y.Item | Y.GC> {
  const structs = store.clients.get(client)
  if (structs === undefined || clock >= Y.getState(store, client)) return
  for (let index = Y.findIndexSS(structs, clock); index < structs.length; index += 1) {
    const struct = structs[index]
    if (struct === undefined || struct.id.clock >= clock + length) return
    yield struct
  }
}

/** The lengths of the arrays in which Yjs keeps the structs of each client. Its work can grow with them. */
export function structCounts({ store }: Y.Doc): number[] {
  return [...store.clients.values()].map(({ length }) => length)
}

/** Tells Yjs whether to keep an item after its deletion. Otherwise Yjs forgets where late text belongs. */
export function keep(item: Y.Item, isKept: boolean): void {
  item.keep = isKept
}

const none = new Uint8Array()

/**
 * What Yjs keeps aside because it builds on something that is missing: structs with the clients that they wait for, and
 * deletions, both in encoding v2. Nothing public tells that an update has not been applied in full.
 */
export function keptAside({ store }: Y.Doc): {
  structs: Uint8Array
  missing: ReadonlyMap<number, number>
  deletions: Uint8Array
} {
  const { update = none, missing = new Map<number, number>() } = store.pendingStructs ?? {}
  return { structs: update, missing, deletions: store.pendingDs ?? none }
}

/**
 * Keeps Yjs from removing formats that have no effect any more. Yjs would do so after each update from elsewhere, and
 * look at all deleted text around each deletion. So a client could stop the process when it deletes a long text. The
 * document reads the same with such formats, and editors remove them.
 */
export function leaveFormats(doc: Y.Doc): void {
  doc.on('afterTransaction', (transaction: Y.Transaction) => {
    transaction._needFormattingCleanup = false
  })
}
