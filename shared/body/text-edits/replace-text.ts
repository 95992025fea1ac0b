import { Refusal } from '../../errors/errors.ts'
import type { BlockLines } from '../block-lines.ts'
import { checkBytes } from '../body-limits.ts'
import type { BlockNode, BodyNode } from '../document.ts'
import { type EditPointer, locate, pointerAt } from '../placement.ts'
import { nearestTexts } from './nearest-texts.ts'
import { type Search, searchFor } from './occurrences.ts'
import type { ReplaceEdit } from './schema.ts'
import { isRun, Runs, RunWriter, replaceTextblocks, type Textblock, textblocksOf } from './textblocks.ts'

/** The most blocks that a refusal names, as in the details of a conflict. */
const refusedBlocks = 100

/** Replaces texts in a body, one edit after the other. */
export class TextReplacer {
  readonly #body: BlockLines
  readonly #byteLimit: number
  readonly #runs = new Runs()
  #growth = 0

  constructor(body: BlockLines, { byteLimit }: { byteLimit: number }) {
    this.#body = body
    this.#byteLimit = byteLimit
  }

  /**
   * Replaces a text where it occurs within one textblock, and returns the ids of the changed textblocks with the number
   * of replaced texts. Refuses with 409 `text_not_found` and `text_ambiguous`, with 422 `block_not_found`, and with 422
   * `document_too_large` when the edits together make the body larger than any body may be.
   */
  replace(edit: ReplaceEdit, pointer: EditPointer & { operationIndex: number }): { blockIds: string[]; count: number } {
    const { find, block_id: id, match_case: matchCase = true, occurrence = 'only' } = edit
    const scope = id === undefined ? null : locate(this.#body, id, pointerAt(pointer, '/block_id'))
    const search = searchFor(find, { matchCase })
    const found = this.#found({ search, textblocks: textblocksOf(this.#body, scope) })
    const chosen = occurrence === 'all' ? [...found] : taken(found, 1)
    const [first] = chosen
    const index = pointer.operationIndex
    if (first === undefined) {
      const nearest = nearestTexts(textblocksOf(this.#body, scope), find)
      throw new Refusal('text_not_found', { details: { index, nearest } })
    }
    if (occurrence === 'only') {
      const others = taken(found, refusedBlocks - 1)
      const isTwice = taken(this.#occurrences(first.node, search), 2).length === 2
      const block_ids = [first, ...others].map(({ node }) => node.attrs.id)
      if (isTwice || others.length > 0) throw new Refusal('text_ambiguous', { details: { index, block_ids } })
    }
    return this.#replaceIn(chosen, { search, text: edit.replace, most: occurrence === 'all' ? Infinity : 1 })
  }

  *#found(within: { search: Search; textblocks: Iterable<Textblock> }): Generator<Textblock, undefined> {
    for (const textblock of within.textblocks) {
      if (taken(this.#occurrences(textblock.node, within.search), 1).length > 0) yield textblock
    }
  }

  *#occurrences(textblock: BodyNode, search: Search): Generator<unknown, undefined> {
    for (const part of this.#runs.of(textblock)) if (isRun(part)) yield* search(part.searched)
  }

  #replaceIn(textblocks: readonly Textblock[], replacing: Replacing) {
    const replaced = new Map<Textblock, BlockNode>()
    let count = 0
    for (const textblock of textblocks) {
      const fresh = this.#replaced(textblock.node, replacing)
      replaced.set(textblock, fresh.node)
      count += fresh.count
    }
    replaceTextblocks(this.#body, replaced)
    return { blockIds: textblocks.map(({ node }) => node.attrs.id), count }
  }

  #replaced(node: BlockNode, { search, text, most }: Replacing): { node: BlockNode; count: number } {
    let count = 0
    const content = this.#runs.of(node).flatMap((part) => {
      if (!isRun(part)) return [part]
      if (count === most) return part.nodes
      const writer = new RunWriter(part)
      for (const stretch of search(part.searched)) {
        this.#grow(text.length - (stretch.end - stretch.start))
        writer.replace(stretch, text)
        count += 1
        if (count === most) break
      }
      return writer.finish()
    })
    const { attrs, type } = node
    return { node: content.length > 0 ? { attrs, content, type } : { attrs, type }, count }
  }

  // A unit of text is at least a byte of the stored body. Few edits could make a body far larger than the memory, so
  // each replaced text is counted.
  #grow(units: number): void {
    this.#growth += units
    checkBytes(this.#growth, this.#byteLimit)
  }
}

/** A text that takes the place of what a search finds, at most so many times in each textblock. */
type Replacing = { search: Search; text: string; most: number }

// The first items of a generator, which can be read on afterwards.
function taken<T>(items: Iterator<T, undefined>, most: number): T[] {
  const result: T[] = []
  while (result.length < most) {
    const { done, value } = items.next()
    if (done) break
    result.push(value as T)
  }
  return result
}
