import * as Y from 'yjs'
import { documentToLines } from '../canonical.ts'
import type { BlockNode, DocNode } from '../document.ts'
import { normaliseDocument } from '../normalise.ts'
import { bodyFragment, readDocument } from '../yjs/encoding.ts'
import { repairDocument } from '../yjs/repair.ts'
import type { Repair } from '../yjs/repair-nodes.ts'
import { followInto, openState } from '../yjs/state.ts'

/** A Y document with the lines of the body that it follows. */
export class FollowingBody {
  readonly doc: Y.Doc
  #lines: readonly string[]

  private constructor(doc: Y.Doc, lines: readonly string[]) {
    this.doc = doc
    this.#lines = lines
  }

  static async open(updates: readonly Uint8Array[], lines: readonly string[]): Promise<FollowingBody> {
    return new FollowingBody(openState(...updates), lines)
  }

  get lines(): readonly string[] {
    return this.#lines
  }

  apply(update: Uint8Array): boolean {
    const { store } = this.doc
    const before = [store.pendingStructs?.update, store.pendingDs]
    let isNew = false
    const note = () => {
      isNew = true
    }
    this.doc.on('update', note)
    Y.applyUpdate(this.doc, update)
    this.doc.off('update', note)
    return isNew || store.pendingStructs?.update !== before[0] || store.pendingDs !== before[1]
  }

  stand(lines: readonly string[]): void {
    this.#lines = lines
  }

  async follow(lines: readonly string[]): Promise<Uint8Array[]> {
    const update = followInto(this.doc, parsedTogether(this.#lines, lines))
    this.#lines = lines
    return update === null ? [] : [update]
  }

  async settle(seed: string): Promise<{ lines: readonly string[]; repairs: Repair[]; updates: Uint8Array[] }> {
    const raw = readDocument(bodyFragment(this.doc)).document
    const { document, repairs } = repairDocument(raw, seed)
    const update = repairs.length > 0 ? followInto(this.doc, { from: raw, to: document }) : null
    this.#lines = documentToLines(normaliseDocument(document, { from: 'json' }).result)
    return { lines: this.#lines, repairs, updates: update === null ? [] : [update] }
  }
}

// A line that both bodies have is parsed once. Both trees then share one object, so comparing the block costs nothing.
function parsedTogether(from: readonly string[], to: readonly string[]): { from: DocNode; to: DocNode } {
  const parsed = new Map(from.map((line) => [line, JSON.parse(line) as BlockNode]))
  const body = (lines: readonly string[]): DocNode => ({
    type: 'doc',
    content: lines.map((line) => parsed.get(line) ?? (JSON.parse(line) as BlockNode)),
  })
  return { from: body(from), to: body(to) }
}
