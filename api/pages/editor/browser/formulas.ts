import { Extension } from '@tiptap/core'
import { type EditorState, Plugin } from '@tiptap/pm/state'
import type { EditorView } from '@tiptap/pm/view'
import type { PageData } from './page-data.ts'
import { askService } from './service.ts'

type Formula = { latex: string; display: 'block' | 'inline' }

/**
 * Shows formulas as MathML, which the service makes from their LaTeX and cleans. A formula that the service cannot
 * show, and each formula while the service is out of reach, is shown as it was written.
 */
export const Formulas = Extension.create<{ page: PageData }>({
  name: 'formulas',
  addProseMirrorPlugins() {
    const { options } = this
    return [new Plugin({ view: (view) => new FormulaPainter(view, options.page) })]
  },
})

// The most formulas that are sent at once, and the most characters.
const most = { formulas: 200, characters: 20_000 }

class FormulaPainter {
  readonly #view: EditorView
  readonly #page: PageData
  // MathML by LaTeX and display; null for a formula that cannot be shown.
  readonly #known = new Map<string, string | null>()
  #isAsking = false

  constructor(view: EditorView, page: PageData) {
    this.#view = view
    this.#page = page
    this.#paint()
  }

  update(_view: EditorView, before: EditorState): void {
    if (before.doc !== this.#view.state.doc) this.#paint()
  }

  #paint(): void {
    const unknown: Formula[] = []
    for (const element of this.#view.dom.querySelectorAll<HTMLElement>('[data-latex]:not([data-shown])')) {
      const display = element.dataset['node'] === 'blockMath' ? 'block' : 'inline'
      const latex = element.textContent ?? ''
      const known = this.#known.get(keyOf({ latex, display }))
      if (known === undefined) unknown.push({ latex, display })
      else this.#show(element, known)
    }
    if (unknown.length > 0) void this.#ask(unknown)
  }

  #show(element: HTMLElement, mathMl: string | null): void {
    element.dataset['shown'] = ''
    if (mathMl === null) return
    // The service has removed everything but MathML.
    const template = document.createElement('template')
    template.innerHTML = mathMl
    element.replaceChildren(template.content)
  }

  async #ask(wanted: Formula[]): Promise<void> {
    if (this.#isAsking) return
    this.#isAsking = true
    try {
      const formulas = batchOf(wanted)
      const body = JSON.stringify({ formulas })
      const answer = await askService<{ formulas: (string | null)[] }>(this.#page, { path: '/editor/formulas', body })
      for (const [index, formula] of formulas.entries()) {
        this.#known.set(keyOf(formula), answer.formulas[index] ?? null)
      }
      this.#isAsking = false
      if (!this.#view.isDestroyed) this.#paint()
    } catch {
      // The service is out of reach. The next change of the document asks again.
      this.#isAsking = false
    }
  }
}

function batchOf(formulas: Formula[]): Formula[] {
  const unique = [...new Map(formulas.map((formula) => [keyOf(formula), formula])).values()].slice(0, most.formulas)
  let characters = 0
  return unique.filter(({ latex }, index) => {
    characters += latex.length
    return index === 0 || characters <= most.characters
  })
}

function keyOf({ latex, display }: Formula): string {
  return `${display} ${latex}`
}
