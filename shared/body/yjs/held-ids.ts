import type * as Y from 'yjs'
import type { Attrs, BodyNode } from '../document.ts'

/**
 * The ids that blocks of a Y document already had at some moment, or got from the server since. When several blocks
 * have one id, because somebody split or copied a block, such a block keeps the id.
 */
export class HeldIds {
  readonly #ownClient: number
  /** For each client, the number of its changes at the moment. */
  readonly #clocks = new Map<number, number>()
  readonly #attributes = new WeakSet<Attrs>()

  /** Takes the present state of a document, which has no other user than the server. */
  constructor(doc: Y.Doc) {
    this.#ownClient = doc.clientID
    for (const [client, structs] of doc.store.clients) {
      const last = structs.at(-1)
      if (last) this.#clocks.set(client, last.id.clock + last.length)
    }
  }

  /**
   * Remembers whether an element holds its id. The reader of elements calls this with the attributes that it returns.
   */
  readonly note = (element: Y.XmlElement, attrs: Attrs): void => {
    const id = element._map.get('id')?.id
    if (id === undefined) return
    if (id.client === this.#ownClient || id.clock < (this.#clocks.get(id.client) ?? 0)) this.#attributes.add(attrs)
  }

  /** True if a node that was read with `note` holds its id. */
  readonly has = ({ attrs }: BodyNode): boolean => attrs !== undefined && this.#attributes.has(attrs)
}
