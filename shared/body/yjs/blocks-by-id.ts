import * as Y from 'yjs'
import { childrenOf, idOf } from './encoding.ts'

/**
 * An index of the live blocks by id. Several blocks have one id after somebody split or copied a block. Then the index
 * has the block with the highest rank, and among equal ranks the first in document order.
 */
export class BlocksById {
  readonly #rankOf: (block: Y.XmlElement) => number
  readonly #found = new Map<string, { block: Y.XmlElement; rank: number | null }>()

  /** Without ranks, the first block of an id counts. A rank is asked for only when several blocks have one id. */
  constructor(rankOf: (block: Y.XmlElement) => number = () => 0) {
    this.#rankOf = rankOf
  }

  /** Adds a child and all blocks in it. Children come in document order. Returns the index. */
  add(child: unknown): this {
    if (!(child instanceof Y.XmlElement)) return this
    const id = idOf(child)
    if (id !== undefined) this.#addBlock(id, child)
    for (const inner of childrenOf(child)) this.add(inner)
    return this
  }

  get(id: string): Y.XmlElement | undefined {
    return this.#found.get(id)?.block
  }

  #addBlock(id: string, block: Y.XmlElement): void {
    const first = this.#found.get(id)
    if (first === undefined) {
      this.#found.set(id, { block, rank: null })
      return
    }
    first.rank ??= this.#rankOf(first.block)
    const rank = this.#rankOf(block)
    if (rank > first.rank) this.#found.set(id, { block, rank })
  }
}
