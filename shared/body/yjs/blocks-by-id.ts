import * as Y from 'yjs'
import { childrenOf, idOf } from './encoding.ts'
import { Keepers } from './keepers.ts'

/** An index of the live blocks by id. Of several blocks with one id it has the block that keeps the id. */
export class BlocksById {
  readonly #keepers: Keepers<Y.XmlElement>

  /** Without ranks, all blocks have the same rank. */
  constructor(rankOf: (block: Y.XmlElement) => number = () => 0) {
    this.#keepers = new Keepers(rankOf)
  }

  /** Adds a top-level child and all blocks in it. Children come in document order. Returns the index. */
  add(child: unknown): this {
    this.#add(child, 1)
    return this
  }

  get(id: string): Y.XmlElement | undefined {
    return this.#keepers.get(id)
  }

  #add(child: unknown, level: number): void {
    if (!(child instanceof Y.XmlElement)) return
    const id = idOf(child)
    if (id !== undefined) this.#keepers.add(id, child, level)
    for (const inner of childrenOf(child)) this.#add(inner, level + 1)
  }
}
