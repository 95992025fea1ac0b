/** How many characters of a page may be worked on at more than the cost of plain text. */
export class Allowance {
  readonly #each: number
  #left: number

  /** `each` is the most for one text, `total` for all texts of a page. */
  constructor({ each, total }: { each: number; total: number }) {
    this.#each = each
    this.#left = total
  }

  /** Whether a text may be worked on, in which case its length is spent. */
  admits(text: string): boolean {
    if (text.length > this.#each || text.length > this.#left) return false
    this.#left -= text.length
    return true
  }
}
