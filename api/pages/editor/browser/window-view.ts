import type { Node as DocumentNode } from '@tiptap/pm/model'
import type { EditorState } from '@tiptap/pm/state'
import type { EditorView } from '@tiptap/pm/view'
import { gapsBetween, type Range } from './block-ranges.ts'

/** A block on or near the screen: its index, and the distances in pixels from the top of the screen. */
type Place = { index: number; top: number; bottom: number }

type Parts = {
  /** The element of a gap, by its number in the document. */
  gapAt: (number: number) => HTMLElement
  rangesIn: (state: EditorState) => readonly Range[]
  /** Shows these blocks as those near the screen. */
  showNear: (near: Range) => void
}

// So many screens are shown on each side of the screen.
const screensBeside = 2

/** The element of a gap. Who reads the page with a screen reader comes to it like to a block, and the blocks appear. */
export function createGap(): HTMLElement {
  const gap = document.createElement('div')
  gap.className = 'gap'
  gap.setAttribute('role', 'note')
  return gap
}

/**
 * Gives the gaps their heights, and shows other blocks before the user comes to a gap. While others write above, what
 * the user reads stays where it is on the screen.
 */
export class WindowView {
  readonly #view: EditorView
  readonly #parts: Parts
  readonly #watch = new IntersectionObserver((entries) => this.#onSeen(entries), { rootMargin: '100% 0px' })
  // The heights of blocks that were shown, with the margins between them.
  readonly #heights = new WeakMap<DocumentNode, number>()
  #ranges: readonly Range[] = []
  /** What the user reads, before a change by others: a block, and its distance in pixels from the top of the screen. */
  #read: { id: string; top: number } | null = null

  constructor(view: EditorView, parts: Parts) {
    this.#view = view
    this.#parts = parts
    this.#follow()
  }

  /** Notes what the user reads, before a change by others. At its beginning, a document shows what is new there. */
  note(): void {
    if (this.#ranges.length === 0 || scrollY === 0) return
    const read = [...this.#view.dom.querySelectorAll<HTMLElement>(':scope > .near')].find((block) => topOf(block) >= 0)
    this.#read = read === undefined ? null : { id: read.dataset['blockId'] ?? '', top: topOf(read) }
  }

  update(): void {
    if (this.#parts.rangesIn(this.#view.state) !== this.#ranges) this.#follow()
    if (this.#read === null) return
    const { id, top } = this.#read
    this.#read = null
    const read = this.#view.dom.querySelector(`:scope > .near[data-block-id="${CSS.escape(id)}"]`)
    if (read !== null) scrollBy({ top: topOf(read) - top, behavior: 'instant' })
  }

  destroy(): void {
    this.#watch.disconnect()
  }

  // An observer tells once that a gap is near, so all gaps are watched anew.
  #follow(): void {
    const { state } = this.#view
    this.#ranges = this.#parts.rangesIn(state)
    this.#watch.disconnect()
    for (const [number, { from, to }] of gapsBetween(this.#ranges, state.doc.childCount).entries()) {
      const gap = this.#parts.gapAt(number)
      let height = 0
      for (let index = from; index < to; index += 1) height += this.#heightOf(state.doc.child(index))
      gap.style.height = `${height}px`
      gap.setAttribute('aria-label', `${to - from} more blocks, which appear here`)
      this.#watch.observe(gap)
    }
  }

  #onSeen(entries: IntersectionObserverEntry[]): void {
    if (this.#view.isDestroyed || !entries.some(({ isIntersecting }) => isIntersecting)) return
    const margin = screensBeside * innerHeight
    const near = this.#places().filter(({ top, bottom }) => bottom > -margin && top < innerHeight + margin)
    const [start, end] = [near[0], near.at(-1)]
    if (start === undefined || end === undefined) return
    const onScreen = near.find(({ bottom }) => bottom > 0) ?? end
    this.#parts.showNear({ from: start.index, to: end.index + 1 })
    // What is on the screen stays there, although blocks before it are higher or lower than expected.
    const now = this.#places().find(({ index }) => index === onScreen.index)
    if (now !== undefined) scrollBy({ top: now.top - onScreen.top, behavior: 'instant' })
  }

  // Where all blocks are, and where the blocks in gaps would be. Remembers the heights of those that are shown.
  #places(): Place[] {
    const { doc } = this.#view.state
    const elements = [...this.#view.dom.querySelectorAll(':scope > .near')]
    const gaps = gapsBetween(this.#ranges, doc.childCount)
    const places: Place[] = []
    for (const [number, range] of this.#ranges.entries()) {
      const gap = gaps[number]
      const shown = elements.splice(0, range.to - range.from).map((element) => element.getBoundingClientRect())
      const end = gap === undefined ? shown.at(-1)?.bottom : this.#parts.gapAt(number).getBoundingClientRect().top
      for (const [at, { top }] of shown.entries()) {
        const bottom = shown[at + 1]?.top ?? end ?? top
        places.push({ index: range.from + at, top, bottom })
        this.#heights.set(doc.child(range.from + at), bottom - top)
      }
      let top = end ?? 0
      for (let index = gap?.from ?? 0; index < (gap?.to ?? 0); index += 1) {
        const bottom = top + this.#heightOf(doc.child(index))
        places.push({ index, top, bottom })
        top = bottom
      }
    }
    return places
  }

  #heightOf(node: DocumentNode): number {
    return this.#heights.get(node) ?? expectedHeight(node)
  }
}

function topOf(block: Element): number {
  return block.getBoundingClientRect().top
}

// Blocks of text have lines of about so many letters. A line and the margin of a block have these heights in pixels.
const usual = { letters: 80, line: 28, margin: 17 }

function expectedHeight(node: DocumentNode): number {
  return Math.max(1, Math.ceil(node.content.size / usual.letters)) * usual.line + usual.margin
}
