import type { Node } from '@tiptap/core'
import type { DOMOutputSpec, Node as DocumentNode } from '@tiptap/pm/model'
import { ownNode } from './body-schema.ts'
import type { PageData } from './page-data.ts'
import { askService, ServiceRefusal } from './service.ts'

type Formula = { latex: string; display: 'block' | 'inline' }

/** Shows a formula as MathML; null for a formula that cannot be shown. */
type Show = (mathMl: string | null) => void

/**
 * The nodes for formulas. They are shown as MathML, which the service makes from their LaTeX and cleans. A formula that
 * the service cannot show, and each formula while the service is out of reach, is shown as it was written.
 */
export function formulas(page: PageData): Node[] {
  const renderer = new FormulaRenderer(page)
  return [formulaNode('blockMath', renderer), formulaNode('inlineMath', renderer)]
}

function formulaNode(name: 'blockMath' | 'inlineMath', renderer: FormulaRenderer): Node {
  const [tag, display] = name === 'blockMath' ? (['div', 'block'] as const) : (['span', 'inline'] as const)
  const own = { class: 'math', dir: 'ltr' }
  const written = ({ attrs }: DocumentNode): DOMOutputSpec => [tag, own, ['code', {}, attrs['latex']]]
  return ownNode(name, written).extend({
    addNodeView() {
      return ({ node, HTMLAttributes }) => {
        const dom = document.createElement(tag)
        const attributes = { ...own, 'data-node': name, ...HTMLAttributes }
        for (const [attribute, value] of Object.entries(attributes)) dom.setAttribute(attribute, String(value))
        const code = document.createElement('code')
        code.textContent = node.attrs['latex']
        dom.append(code)
        renderer.render({ latex: node.attrs['latex'], display }, (mathMl) => mathMl !== null && fill(dom, mathMl))
        return { dom }
      }
    },
  })
}

// The service has removed everything but MathML.
function fill(dom: HTMLElement, mathMl: string): void {
  const template = document.createElement('template')
  template.innerHTML = mathMl
  dom.replaceChildren(template.content)
}

// The most formulas of one question, and the most characters.
const most = { formulas: 200, characters: 20_000 }
// A longer formula is shown as it was written.
const longest = 2000
// The milliseconds in which formulas are collected for a question, and until a question is repeated that failed. Each
// further failure doubles the pause.
const pauseMs = { first: 20, again: 10_000, longest: 600_000 }

/** A formula by its name among all formulas, and who waits for it. */
type Waiting = [name: string, { formula: Formula; shows: Show[] }]

/** Asks the service for MathML, once for each formula, and for several formulas at a time. */
class FormulaRenderer {
  readonly #page: PageData
  readonly #known = new Map<string, string | null>()
  readonly #waiting = new Map<string, Waiting[1]>()
  #isAsking = false
  #failures = 0

  constructor(page: PageData) {
    this.#page = page
  }

  /** Calls `show` when the MathML of the formula is known, which may be at once. */
  render(formula: Formula, show: Show): void {
    const key = `${formula.display} ${formula.latex}`
    const known = formula.latex.length > longest ? null : this.#known.get(key)
    if (known !== undefined) {
      show(known)
      return
    }
    const waiting = this.#waiting.get(key) ?? { formula, shows: [] }
    waiting.shows.push(show)
    this.#waiting.set(key, waiting)
    this.#askSoon(pauseMs.first)
  }

  #askSoon(pause: number): void {
    if (this.#isAsking) return
    this.#isAsking = true
    setTimeout(() => void this.#ask(), pause)
  }

  #settle([key, { shows }]: Waiting, mathMl: string | null): void {
    this.#known.set(key, mathMl)
    this.#waiting.delete(key)
    for (const show of shows) show(mathMl)
  }

  async #ask(): Promise<void> {
    const batch = batchOf([...this.#waiting])
    const body = JSON.stringify({ formulas: batch.map(([, { formula }]) => formula) })
    let pause = pauseMs.first
    try {
      const answer = await askService<{ formulas: (string | null)[] }>(this.#page, { path: '/editor/formulas', body })
      this.#failures = 0
      for (const [index, one] of batch.entries()) this.#settle(one, answer.formulas[index] ?? null)
    } catch (error) {
      pause = Math.min(pauseMs.again * 2 ** this.#failures, pauseMs.longest)
      this.#failures += 1
      // What the service refuses once is refused each time.
      if (isFinal(error)) for (const one of batch) this.#settle(one, null)
    }
    this.#isAsking = false
    if (this.#waiting.size > 0) this.#askSoon(pause)
  }
}

// Signing in again, a pause or a working service can change the answer.
function isFinal(error: unknown): boolean {
  return error instanceof ServiceRefusal && error.status < 500 && error.status !== 401 && error.status !== 429
}

function batchOf(waiting: Waiting[]): Waiting[] {
  let characters = 0
  return waiting.slice(0, most.formulas).filter(([, { formula }], index) => {
    characters += formula.latex.length
    return index === 0 || characters <= most.characters
  })
}
