import { columnsOf, jsonText, manyLines, painted, type Span, type Style } from './terminal-text.ts'

/** A row of a table: a cell is a span or several. */
export type Row = readonly (Span | readonly Span[])[]

/** The streams of a process and what decides how they are written. */
export type OutputOptions = {
  stdout: NodeJS.WriteStream
  stderr: NodeJS.WriteStream
  /** Whether the answers are for a program. */
  json: boolean
  env: NodeJS.ProcessEnv
}

/**
 * Writes what a command answers. Answers go to standard output: as JSON for programs, else as text for people. Notes,
 * progress and errors go to standard error. Nothing else writes escape sequences, so no text of the service can.
 */
export class Output {
  readonly json: boolean
  readonly #stdout: NodeJS.WriteStream
  readonly #stderr: NodeJS.WriteStream
  readonly #hasColors: { stdout: boolean; stderr: boolean }
  #progress = ''

  constructor({ stdout, stderr, json, env }: OutputOptions) {
    this.json = json
    this.#stdout = stdout
    this.#stderr = stderr
    this.#hasColors = { stdout: hasColors(stdout, env), stderr: hasColors(stderr, env) }
  }

  /** Whether a person reads standard output on a terminal. */
  get isTerminal(): boolean {
    return this.#stdout.isTTY === true
  }

  /** Prints the value as JSON for a program; for a person calls `show`, which prints lines. */
  answer(value: unknown, show: () => void): void {
    if (this.json) this.#write(`${jsonText(value, this.isTerminal ? 2 : 0)}\n`)
    else show()
  }

  /** As `answer`, for commands that print several values: JSON takes one line for each value. */
  item(value: unknown, show: () => void): void {
    if (this.json) this.#write(`${jsonText(value)}\n`)
    else show()
  }

  /** Prints a line for a person. */
  line(...spans: Span[]): void {
    this.#write(`${painted(spans, this.#hasColors.stdout)}\n`)
  }

  /** Prints rows in aligned columns. The last column may be of any length. */
  table(rows: readonly Row[]): void {
    const cells = rows.map((row) => row.map((cell) => (Array.isArray(cell) ? cell : [cell]) as Span[]))
    const widths: number[] = []
    for (const row of cells) {
      for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, columnsOf(cell))
    }
    for (const row of cells) {
      const padded = row.flatMap((cell, index) =>
        index === row.length - 1 ? cell : [...cell, ' '.repeat((widths[index] ?? 0) - columnsOf(cell) + 2)],
      )
      this.line(...padded)
    }
  }

  /** Prints a text of several lines: exactly as it is into a pipe or a file, harmless on a terminal. */
  text(text: string): void {
    this.#write(this.isTerminal ? manyLines(text) : text)
  }

  /** Prints a line of a text: exactly as it is into a pipe or a file, harmless and coloured on a terminal. */
  textLine(line: string, style: Style | null): void {
    if (this.isTerminal) this.line(style === null ? line : { text: line, style })
    else this.#write(`${line}\n`)
  }

  /** Tells a person something about the work, on standard error. Programs are told nothing. */
  note(...spans: Span[]): void {
    if (!this.json) this.#tell(painted(spans, this.#hasColors.stderr))
  }

  /** Tells an error on standard error: a line for each text to a person, the value as JSON to a program. */
  error(value: unknown, lines: readonly Span[][]): void {
    if (this.json) this.#tell(jsonText(value))
    else for (const line of lines) this.#tell(painted(line, this.#hasColors.stderr))
  }

  /** Shows how far the work is, in place, while a person watches standard error on a terminal. */
  progress(text: string): void {
    if (this.json || !this.#stderr.isTTY) return
    this.#progress = painted([text], false).slice(0, (this.#stderr.columns ?? 80) - 1)
    this.#stderr.write(`\r\x1b[K${this.#progress}`)
  }

  /** Removes the display of progress. */
  endProgress(): void {
    if (this.#progress !== '') this.#stderr.write('\r\x1b[K')
    this.#progress = ''
  }

  #tell(line: string): void {
    const progress = this.#progress
    this.endProgress()
    this.#stderr.write(`${line}\n`)
    if (progress !== '') this.progress(progress)
  }

  #write(text: string): void {
    this.endProgress()
    this.#stdout.write(text)
  }
}

// https://no-color.org: any value but the empty one means no colours.
function hasColors(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv): boolean {
  return stream.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
}
