import { linesToDocument } from './canonical.ts'
import type { DocNode } from './document.ts'

/** A body as it is stored: canonical text, one top-level block a line. Lines and nodes are made when they are asked for. */
export class StoredBody {
  readonly version: string
  readonly text: string
  #lines: readonly string[] | undefined
  #document: DocNode | undefined

  constructor(stored: { version: string; text: string }) {
    this.version = stored.version
    this.text = stored.text
  }

  /** The top-level blocks as canonical JSON. */
  get lines(): readonly string[] {
    this.#lines ??= this.text.split('\n')
    return this.#lines
  }

  /** The whole body parsed; the caller must not change it. */
  get document(): DocNode {
    this.#document ??= linesToDocument(this.lines)
    return this.#document
  }
}
