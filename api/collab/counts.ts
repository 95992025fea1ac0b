/** A number for each key, which is 0 until something is added. */
export class Counts {
  readonly #counts = new Map<string, number>()

  of(key: string): number {
    return this.#counts.get(key) ?? 0
  }

  add(key: string, change: number): void {
    const count = this.of(key) + change
    if (count === 0) this.#counts.delete(key)
    else this.#counts.set(key, count)
  }
}
