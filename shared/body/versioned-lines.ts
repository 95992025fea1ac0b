import { createHash, type Hash } from 'node:crypto'
import type { Slices } from '../computations/slices.ts'
import { attachmentsIn } from './addresses.ts'

/**
 * A stretch in which two bodies differ. The lines `removed` stand at position `from` of the old body, and the lines
 * `added` stand in their place at position `to` of the new body.
 */
export type LineWindow = { from: number; removed: readonly string[]; to: number; added: readonly string[] }

/**
 * A stretch of a stored text that was replaced. In the UTF-8 bytes of the old text, `added` stands in the place of
 * `removed` bytes from `offset` on. Here the last line of a text ends with a line feed, too.
 */
export type Splice = { offset: number; removed: number; added: Buffer }

/**
 * A new text as the database compares it with an old text. The first `before` bytes and the last `after` bytes are
 * those of the old text, and `middle` stands between them.
 */
export type ComparedText = { before: number; after: number; middle: Buffer }

/** A stretch of lines whose UTF-8 bytes are kept. Each line ends with a line feed. */
type Page = { count: number; bytes: Buffer }

// The number of lines of a new page. With shorter pages a version takes longer, with longer pages a change.
const pageLines = 64

/**
 * The stored lines of a body with what follows from all of them: the version, the size and the shown attachments. A
 * change costs in proportion to the changed lines. Only the version is hashed from the first changed line to the end.
 */
export class VersionedLines {
  #lines: readonly string[]
  #pages: Page[] = []
  /** For the first pages, the hash of everything before the page. */
  readonly #hashes: Hash[] = []
  /** For each shown attachment, the number of lines that show it. */
  readonly #shown = new Map<string, number>()
  #bytes = 0
  #version: string | undefined

  private constructor(lines: readonly string[]) {
    this.#lines = lines
  }

  /** Takes the lines of a body. The caller must not change the array. */
  static *of(lines: readonly string[]): Slices<VersionedLines> {
    const made = new VersionedLines(lines)
    for (const line of lines) {
      made.#count(line, 1)
      yield
    }
    made.#pages = yield* made.#newPages(0, lines.length)
    return made
  }

  /** The lines. A change makes a new array and leaves this array as it is. */
  get lines(): readonly string[] {
    return this.#lines
  }

  /** The number of bytes of the stored text. */
  get bytes(): number {
    return Math.max(this.#bytes - 1, 0)
  }

  /** The lines joined to the text that the database stores. */
  get text(): string {
    return this.#lines.join('\n')
  }

  /** The version of the body. */
  get version(): string {
    this.#version ??= `sha256:${this.#digest()}`
    return this.#version
  }

  /** True if a line shows the attachment. */
  shows(attachmentId: string): boolean {
    return this.#shown.has(attachmentId)
  }

  /** Puts the added lines of windows in the place of the removed lines. The windows ascend and do not overlap. */
  *replace(windows: readonly LineWindow[]): Slices<void> {
    if (windows.length === 0) return
    this.#lines = replaced(this.#lines, windows)
    this.#version = undefined
    for (const { removed, added } of windows) {
      for (const line of removed) {
        this.#count(line, -1)
        yield
      }
      for (const line of added) {
        this.#count(line, 1)
        yield
      }
    }
    yield* this.#replacePages(windows)
  }

  /** The splices that have led from the text before to this text. `windows` are those of the last `replace`. */
  splicesOf(windows: readonly LineWindow[]): Splice[] {
    let growth = 0
    return windows.map(({ to, removed: oldLines, added: newLines }) => {
      const offset = this.#offsetOf(to) - growth
      const [removed, added] = [bytesOf(oldLines).length, bytesOf(newLines)]
      growth += added.length - removed
      return { offset, removed, added }
    })
  }

  /** The lines of a new text. Lines that begin before and end behind its middle are the same strings as before. */
  linesOf({ before, after, middle }: ComparedText): string[] {
    const [first, last] = [this.#lineAt(before), this.#lineAt(this.bytes - after)]
    const head = first.bytes.subarray(0, before - first.offset)
    const tail = last.bytes.subarray(this.bytes - after - last.offset, -1)
    const between = flatLines(Buffer.concat([head, middle, tail]))
    return this.#lines.slice(0, first.line).concat(between, this.#lines.slice(last.line + 1))
  }

  /** The line that has a byte of the text, or that ends with it. `offset` counts the bytes before the line. */
  #lineAt(byte: number): { line: number; offset: number; bytes: Buffer } {
    let [offset, line] = [0, 0]
    for (const page of this.#pages) {
      if (byte < offset + page.bytes.length) {
        for (let start = 0; ; line += 1) {
          const end = page.bytes.indexOf(lineFeed, start) + 1
          if (byte < offset + end) return { line, offset: offset + start, bytes: page.bytes.subarray(start, end) }
          start = end
        }
      }
      offset += page.bytes.length
      line += page.count
    }
    throw new RangeError(`the text has no byte ${byte}`)
  }

  /** The bytes before a line. */
  #offsetOf(line: number): number {
    let [offset, first] = [0, 0]
    for (const { count, bytes } of this.#pages) {
      if (line < first + count) return offset + bytesOf(this.#lines.slice(first, line)).length
      offset += bytes.length
      first += count
    }
    return offset
  }

  *#replacePages(windows: readonly LineWindow[]): Slices<void> {
    const pages: Page[] = []
    let [position, shift, next, untouched] = [0, 0, 0, this.#pages.length]
    for (let index = 0; index < this.#pages.length; ) {
      const start = position
      const isTouched = (window: LineWindow | undefined) =>
        window !== undefined && (window.from < position || index >= this.#pages.length)
      const old = [this.#pages[index++] as Page]
      position += old[0]?.count ?? 0
      if (!isTouched(windows[next])) {
        pages.push(...old)
        continue
      }
      untouched = Math.min(untouched, pages.length)
      const startOfNew = start + shift
      for (let window = windows[next]; window && isTouched(window); window = windows[next]) {
        next += 1
        shift += window.added.length - window.removed.length
        while (position < window.from + window.removed.length && index < this.#pages.length) {
          const page = this.#pages[index++] as Page
          old.push(page)
          position += page.count
        }
      }
      for (const { bytes } of old) this.#bytes -= bytes.length
      pages.push(...(yield* this.#newPages(startOfNew, position + shift)))
    }
    this.#pages = pages
    this.#hashes.length = Math.min(this.#hashes.length, untouched + 1)
  }

  *#newPages(start: number, end: number): Slices<Page[]> {
    const pages: Page[] = []
    for (let from = start; from < end; from += pageLines) {
      const lines = this.#lines.slice(from, Math.min(from + pageLines, end))
      const bytes = bytesOf(lines)
      pages.push({ count: lines.length, bytes })
      this.#bytes += bytes.length
      yield
    }
    return pages
  }

  #digest(): string {
    let hash = this.#hashes.pop() ?? createHash('sha256')
    for (let index = this.#hashes.length; index < this.#pages.length; index++) {
      const { bytes } = this.#pages[index] as Page
      this.#hashes.push(hash)
      hash = hash.copy()
      hash.update(index === this.#pages.length - 1 ? bytes.subarray(0, -1) : bytes)
    }
    return hash.digest('hex')
  }

  #count(line: string, step: 1 | -1): void {
    for (const id of attachmentsIn(line)) {
      const count = (this.#shown.get(id) ?? 0) + step
      if (count > 0) this.#shown.set(id, count)
      else this.#shown.delete(id)
    }
  }
}

const lineFeed = 0x0a

// Decodes each line by itself. A part of a decoded text would keep the whole text in memory.
function flatLines(bytes: Buffer): string[] {
  const lines: string[] = []
  for (let start = 0; start <= bytes.length; ) {
    const found = bytes.indexOf(lineFeed, start)
    const end = found < 0 ? bytes.length : found
    lines.push(bytes.toString('utf8', start, end))
    start = end + 1
  }
  return lines
}

/** Lines as UTF-8. Each ends with a line feed. */
function bytesOf(lines: readonly string[]): Buffer {
  return Buffer.from(lines.length === 0 ? '' : `${lines.join('\n')}\n`)
}

/** A copy of the lines with the added lines of windows in the place of the removed lines. */
function replaced(lines: readonly string[], windows: readonly LineWindow[]): string[] {
  const result: string[] = []
  let position = 0
  const keepUntil = (end: number) => {
    for (; position < end; position++) result.push(lines[position] as string)
  }
  for (const { from, removed, added } of windows) {
    keepUntil(from)
    for (const line of added) result.push(line)
    position += removed.length
  }
  keepUntil(lines.length)
  return result
}
