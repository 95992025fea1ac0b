import * as Y from 'yjs'
import type { Attrs, BodyNode } from '../document.ts'
import { inlineTypes, isTextblock } from '../nodes.ts'
import { childrenOf } from './encoding.ts'
import { attributeItems } from './yjs-internals.ts'

/**
 * The ids that blocks of a Y document already had at some moment, or got from the server since. When several blocks
 * have one id, because somebody split or copied a block, such a block keeps the id.
 */
export class HeldIds {
  readonly #ownClient: number
  /** For each client, the number of its changes at the moment. */
  readonly #clocks: ReadonlyMap<number, number>
  readonly #attributes = new WeakSet<Attrs>()

  /** Takes the present state of a document, which has no other user than the server. */
  constructor(doc: Y.Doc) {
    this.#ownClient = doc.clientID
    this.#clocks = Y.decodeStateVector(Y.encodeStateVector(doc))
  }

  /**
   * Remembers whether an element holds its id. The reader of elements calls this with the attributes that it returns.
   */
  readonly note = (element: Y.XmlElement, attrs: Attrs): void => {
    if (this.#holds(element)) this.#attributes.add(attrs)
  }

  /** True if a node that was read with `note` holds its id. */
  readonly has = ({ attrs }: BodyNode): boolean => attrs !== undefined && this.#attributes.has(attrs)

  /**
   * The rank of an element among elements with one id, by the rule of `IdRepair`: an element that holds its id comes
   * before an element with content, which comes before an empty element.
   */
  readonly rankOf = (element: Y.XmlElement): number => {
    if (this.#holds(element)) return 2
    return isEmpty(element) ? 0 : 1
  }

  #holds(element: Y.XmlElement): boolean {
    const id = attributeItems(element).get('id')?.id
    if (id === undefined) return false
    return id.client === this.#ownClient || id.clock < (this.#clocks.get(id.client) ?? 0)
  }
}

/** True if nothing can be seen of an element, as `IdRepair` decides it for a block. */
function isEmpty(element: Y.XmlElement): boolean {
  if (inlineTypes.has(element.nodeName)) return false
  const content = childrenOf(element).filter((child) => !(child instanceof Y.XmlText && child.length === 0))
  if (content.length === 0) return isTextblock(element.nodeName)
  return content.every((child) => child instanceof Y.XmlElement && isEmpty(child))
}
