import * as Y from 'yjs'
import type { Slices } from '../../computations/slices.ts'
import { topBlockId } from '../block-lines.ts'
import type { LineWindow } from '../versioned-lines.ts'
import { ElementIds } from './element-ids.ts'
import { childrenOf, idOf } from './encoding.ts'
import { itemOf } from './yjs-internals.ts'

/**
 * A stretch of live top-level children whose lines are not known, in place of the old lines from `start` up to `end`.
 * `position` is the index of the first of these children among all children.
 */
export type Run = { children: readonly unknown[]; position: number; start: number; end: number }

/**
 * A division of the live top-level children into children with known lines and runs of others. `positions` has for each
 * line the index of the child that is known to hold it, or -1.
 */
export type Division = { children: readonly unknown[]; runs: Run[]; positions: readonly number[] }

/** The element of the Y document that is known to hold a line; null when no element is known. */
type KnownElement = Y.XmlElement | null

/**
 * The top-level elements of a Y document that are known to hold the lines of a body. An element is known from a reading
 * of it until the element, or anything in it, changes. Yjs never changes the order of elements, so known elements are
 * in the order of their lines.
 */
export class KnownElements {
  readonly #fragment: Y.XmlFragment
  #lines: readonly string[]
  #elements: KnownElement[]
  /** The last lines of elements that are not known any more. */
  readonly #former = new WeakMap<object, string>()
  readonly #changed = new Set<unknown>()
  readonly #ids = new ElementIds()
  /** The live children while no child comes or goes; null afterwards. */
  #children: readonly unknown[] | null = null

  private constructor(fragment: Y.XmlFragment, lines: readonly string[]) {
    this.#fragment = fragment
    this.#lines = lines
    this.#elements = lines.map(() => null)
    fragment.doc?.on('afterTransaction', (transaction: Y.Transaction) => this.#notice(transaction))
  }

  /**
   * Takes the elements for known that have the id and the type of the line at their place. Reads no content. The caller
   * answers for it that the Y document follows the lines.
   */
  static *trusting(fragment: Y.XmlFragment, lines: readonly string[]): Slices<KnownElements> {
    const known = new KnownElements(fragment, lines)
    const places = new Map(lines.map((line, index) => [topBlockId(line), index]))
    let least = 0
    for (const child of childrenOf(fragment)) {
      yield
      const index = places.get(idOf(child) ?? '') ?? -1
      if (index < least || !(child instanceof Y.XmlElement)) continue
      const line = lines[index] as string
      if (!line.endsWith(`"type":"${child.nodeName}"}`)) continue
      known.#elements[index] = child
      known.#ids.add(child, line)
      least = index + 1
    }
    return known
  }

  /** True if an id stands in the line of a known element. */
  hasId(id: string): boolean {
    return this.#ids.has(id)
  }

  /** The known elements in whose lines an id stands, as the id of a block or of a mention. */
  withId(id: string): readonly Y.XmlElement[] {
    return this.#ids.get(id)
  }

  /** The lines of the known elements in which an id stands, as the id of a block or of a mention. */
  linesWithId(id: string): string[] {
    return this.withId(id).map((element) => this.#lines[this.#elements.indexOf(element)] as string)
  }

  /** The last line of an element that is not known any more; undefined when it never had one. */
  formerLine(child: unknown): string | undefined {
    return child instanceof Y.XmlElement ? this.#former.get(child) : undefined
  }

  /** Divides the live children. Elements that have changed since the last division are not known any more. */
  *divide(): Slices<Division> {
    this.#forgetChanged()
    if (this.#children === null) {
      this.#children = childrenOf(this.#fragment)
      yield* this.#forgetDeleted()
    }
    const division = divided(this.#children, this.#elements)
    // The elements of lines in a run are gone.
    for (const { start, end } of division.runs) {
      for (let index = start; index < end; index++) {
        this.forget(index)
        yield
      }
    }
    return division
  }

  /** Forgets the element of a line. So the element is read by the next `settle`. */
  forget(index: number): void {
    const element = this.#elements[index]
    if (!element) return
    const line = this.#lines[index] as string
    this.#ids.delete(element, line)
    this.#former.set(element, line)
    this.#elements[index] = null
  }

  /** Replaces lines. `added` has the elements that are known to hold the added lines of each window. */
  *replace(
    windows: readonly LineWindow[],
    lines: readonly string[],
    added: readonly (readonly KnownElement[])[],
  ): Slices<void> {
    const elements: KnownElement[] = []
    let position = 0
    const keepUntil = (end: number) => {
      for (; position < end; position++) elements.push(this.#elements[position] ?? null)
    }
    for (const [index, { from, removed, added: addedLines }] of windows.entries()) {
      keepUntil(from)
      for (let offset = 0; offset < removed.length; offset++) {
        this.forget(from + offset)
        yield
      }
      position += removed.length
      for (let offset = 0; offset < addedLines.length; offset++) {
        const element = added[index]?.[offset] ?? null
        elements.push(element)
        if (element) this.#ids.add(element, addedLines[offset] as string)
        yield
      }
    }
    keepUntil(this.#elements.length)
    this.#elements = elements
    this.#lines = lines
  }

  /**
   * Notes which line each element holds that is not known because a repair has written it. The next `settle` reads the
   * element, and its former line is the noted line.
   */
  *noteWritten(): Slices<void> {
    for (const { children, start, end } of (yield* this.divide()).runs) {
      if (children.length !== end - start) continue
      for (const [offset, child] of children.entries()) {
        if (child instanceof Y.XmlElement) this.#former.set(child, this.#lines[start + offset] as string)
        yield
      }
    }
  }

  // Searching for a few elements costs much less than asking of all elements whether they have changed.
  #forgetChanged(): void {
    if (this.#changed.size <= fewElements) {
      for (const element of this.#changed) this.forget(this.#elements.indexOf(element as Y.XmlElement))
    } else {
      this.#elements.forEach((element, index) => {
        if (this.#changed.has(element)) this.forget(index)
      })
    }
    this.#changed.clear()
  }

  *#forgetDeleted(): Slices<void> {
    for (const [index, element] of this.#elements.entries()) {
      if (itemOf(element)?.deleted !== false) this.forget(index)
      yield
    }
  }

  #notice(transaction: Y.Transaction): void {
    for (const type of transaction.changed.keys()) {
      if ((type as unknown) === this.#fragment) this.#children = null
      const element = topLevelOf(type as Y.AbstractType<unknown>, this.#fragment)
      if (element !== null) this.#changed.add(element)
    }
  }
}

function topLevelOf(type: Y.AbstractType<unknown>, fragment: Y.XmlFragment): Y.AbstractType<unknown> | null {
  let current: Y.AbstractType<unknown> | null = type
  while (current !== null && current.parent !== fragment) current = current.parent as Y.AbstractType<unknown> | null
  return current
}

function divided(children: readonly unknown[], elements: readonly KnownElement[]): Division {
  const runs: Run[] = []
  const positions = new Array<number>(elements.length).fill(-1)
  // The first line that is not assigned yet, and the next line whose element is still there.
  let [start, next, first] = [0, 0, 0]
  const close = (end: number, position: number) => {
    if (end > start || position > first)
      runs.push({ children: children.slice(first, position), position: first, start, end })
  }
  for (let position = 0; position < children.length; position++) {
    while (next < elements.length && elements[next] === null) next += 1
    if (next >= elements.length || elements[next] !== children[position]) continue
    close(next, position)
    positions[next] = position
    next += 1
    start = next
    first = position + 1
  }
  close(elements.length, children.length)
  return { children, runs, positions }
}

const fewElements = 8
