import type * as Y from 'yjs'
import { idsInLine } from '../block-lines.ts'

/** An index of ids: which elements hold a block or a mention with an id, by the lines of the elements. */
export class ElementIds {
  // As a rule one element has an id. Only where a mention has the id of a block, several elements have it.
  readonly #elements = new Map<string, Y.XmlElement | Y.XmlElement[]>()

  get(id: string): readonly Y.XmlElement[] {
    const found = this.#elements.get(id)
    if (found === undefined) return []
    return Array.isArray(found) ? found : [found]
  }

  has(id: string): boolean {
    return this.#elements.has(id)
  }

  add(element: Y.XmlElement, line: string): void {
    for (const id of idsInLine(line)) {
      const found = this.get(id)
      if (found.length === 0) this.#elements.set(id, element)
      else if (!found.includes(element)) this.#elements.set(id, [...found, element])
    }
  }

  delete(element: Y.XmlElement, line: string): void {
    for (const id of idsInLine(line)) {
      const left = this.get(id).filter((other) => other !== element)
      if (left.length > 1) this.#elements.set(id, left)
      else if (left[0] !== undefined) this.#elements.set(id, left[0])
      else this.#elements.delete(id)
    }
  }
}
