/** Tells a person how far an import is, on standard error: in place on a terminal, line by line in a log. */
export class Progress {
  readonly #out: NodeJS.WriteStream
  #label = ''
  #done = 0
  #total = 0
  #shownAt = 0

  constructor(out: NodeJS.WriteStream) {
    this.#out = out
  }

  /** Begins a part of the work. */
  begin(label: string, total: number): void {
    this.#label = label
    this.#done = 0
    this.#total = total
  }

  /** One more is done. */
  step(): void {
    this.#done += 1
    const isLast = this.#done === this.#total
    const pause = this.#out.isTTY ? 100 : 5000
    if (!isLast && Date.now() - this.#shownAt < pause) return
    this.#shownAt = Date.now()
    const text = `${this.#label}: ${this.#done} of ${this.#total}`
    this.#out.write(this.#out.isTTY && !isLast ? `\r${text}` : this.#out.isTTY ? `\r${text}\n` : `${text}\n`)
  }

  /** Something that the person should know. */
  tell(message: string): void {
    this.#out.write(`${this.#out.isTTY ? '\r' : ''}${message}\n`)
  }
}
