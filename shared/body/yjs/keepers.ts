/**
 * Decides which of several blocks with one id keeps the id. Blocks have one id after somebody split or copied a block.
 * The block with the highest rank keeps it. Among equal ranks it is the block on the highest level, so that a list
 * comes before its copy in one of its items, and on one level the first in document order.
 */
export class Keepers<Block> {
  readonly #rankOf: (block: Block) => number
  readonly #found = new Map<string, { block: Block; level: number; rank: number | null }>()

  /** A rank is asked for only when several blocks have one id. */
  constructor(rankOf: (block: Block) => number) {
    this.#rankOf = rankOf
  }

  /** Adds a block. Blocks come in document order. A block at the top level has the level 1. */
  add(id: string, block: Block, level: number): void {
    const keeper = this.#found.get(id)
    if (keeper === undefined) {
      this.#found.set(id, { block, level, rank: null })
      return
    }
    keeper.rank ??= this.#rankOf(keeper.block)
    const rank = this.#rankOf(block)
    const isPreferred = rank > keeper.rank || (rank === keeper.rank && level < keeper.level)
    if (isPreferred) this.#found.set(id, { block, level, rank })
  }

  get(id: string): Block | undefined {
    return this.#found.get(id)?.block
  }
}
