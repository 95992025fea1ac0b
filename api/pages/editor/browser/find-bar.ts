import type { Editor } from '@tiptap/core'
import { ChevronDown, ChevronUp, X } from 'lucide'
import { findMatches, hideMatches, limits, type Match, replaceMatches, scrollToMatch, showMatches } from './find.ts'
import { type Sign, signElement } from './icons.ts'

// The pause after a change of the document, in milliseconds, until the matches follow.
const pauseMs = 200

/**
 * Makes the bar that finds and replaces text in the document. Control+F opens the bar, and once more the search of the
 * browser. Enter goes to the next match, Shift+Enter to the one before, and Escape closes the bar.
 */
export function createFindBar(editor: Editor): { element: HTMLElement; open: () => void } {
  const bar = new FindBar(editor)
  addEventListener('keydown', (event) => {
    const isFind =
      event.key.toLowerCase() === 'f' && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey
    if (!isFind || bar.hasFocus || document.querySelector('dialog[open]') !== null) return
    event.preventDefault()
    bar.open()
  })
  return { element: bar.element, open: () => bar.open() }
}

class FindBar {
  readonly element = document.createElement('div')
  readonly #editor: Editor
  readonly #wanted = field('Find in the document')
  readonly #replacement = field('Replace by')
  readonly #count = document.createElement('span')
  readonly #replacing: HTMLElement
  #matches: Match[] = []
  #isMore = false
  #current = 0
  /** Where the match is that the user looks at. It stays there while others write. */
  #place = 0
  #pause = 0

  constructor(editor: Editor) {
    this.#editor = editor
    this.element.className = 'find'
    this.element.hidden = true
    this.element.setAttribute('role', 'search')
    this.element.setAttribute('aria-label', 'Find in the document')
    this.#wanted.maxLength = limits.characters
    this.#count.className = 'count'
    this.#count.setAttribute('aria-live', 'polite')
    this.#replacing = group(
      this.#replacement,
      button('Replace', 'Replace', () => this.#replace('one')),
      button('Replace all', 'Replace all', () => this.#replace('all')),
    )
    this.element.append(
      group(
        this.#wanted,
        this.#count,
        button('Previous match', ChevronUp, () => this.#step(-1)),
        button('Next match', ChevronDown, () => this.#step(1)),
        button('Close', X, () => this.#close()),
      ),
      this.#replacing,
    )
    this.#wanted.addEventListener('input', () => this.#find())
    this.element.addEventListener('keydown', (event) => this.#onKey(event))
    editor.on('transaction', ({ transaction }) => {
      this.#place = transaction.mapping.map(this.#place)
    })
    editor.on('update', () => {
      clearTimeout(this.#pause)
      if (!this.element.hidden) this.#pause = window.setTimeout(() => this.#refresh(), pauseMs)
    })
  }

  get hasFocus(): boolean {
    return this.element.contains(document.activeElement)
  }

  /** Opens the bar with the selected text, if it lies in one block. */
  open(): void {
    const { $from, from, to } = this.#editor.state.selection
    const isInBlock = $from.parent.isTextblock && to <= $from.end()
    const selected = isInBlock ? this.#editor.state.doc.textBetween(from, to) : ''
    if (selected !== '') this.#wanted.value = selected.slice(0, limits.characters)
    this.element.hidden = false
    this.#replacing.hidden = !this.#editor.isEditable
    this.#wanted.select()
    this.#find()
  }

  #close(): void {
    clearTimeout(this.#pause)
    this.element.hidden = true
    hideMatches()
    const match = this.#matches[this.#current]
    const { commands } = this.#editor
    if (match !== undefined && this.#wanted.value !== '') commands.setTextSelection(match)
    commands.focus()
  }

  // Looks for the text from the caret on.
  #find(): void {
    this.#place = this.#editor.state.selection.from
    this.#refresh()
    this.#scroll()
  }

  #refresh(): void {
    const { matches, isMore } = findMatches(this.#editor.state.doc, this.#wanted.value)
    this.#matches = matches
    this.#isMore = isMore
    this.#current = Math.max(
      matches.findIndex(({ from }) => from >= this.#place),
      0,
    )
    this.#place = matches[this.#current]?.from ?? this.#place
    this.#show()
  }

  #step(steps: number): void {
    if (this.#matches.length === 0) return
    this.#current = (this.#current + steps + this.#matches.length) % this.#matches.length
    this.#place = this.#matches[this.#current]?.from ?? 0
    this.#show()
    this.#scroll()
  }

  #replace(which: 'one' | 'all'): void {
    // Others may have changed the text since the last look.
    this.#refresh()
    const matches = which === 'all' ? this.#matches : this.#matches.slice(this.#current, this.#current + 1)
    const text = this.#replacement.value
    // The new text may hold the wanted text. So the search goes on behind the last replaced match.
    const last = matches.at(-1)
    const growth = matches.reduce((sum, { from, to }) => sum + text.length - (to - from), 0)
    replaceMatches(this.#editor, { matches, text })
    if (last !== undefined && this.#editor.isEditable) this.#place = last.to + growth
    this.#refresh()
    this.#scroll()
  }

  #show(): void {
    showMatches(this.#editor, { matches: this.#matches, current: this.#current })
    const all = `${this.#matches.length}${this.#isMore ? '+' : ''}`
    const found = this.#matches.length === 0 ? 'Not found' : `${this.#current + 1} of ${all}`
    this.#count.textContent = this.#wanted.value === '' ? '' : found
  }

  #scroll(): void {
    const match = this.#matches[this.#current]
    if (match) scrollToMatch(this.#editor, match)
  }

  #onKey(event: KeyboardEvent): void {
    if (event.isComposing) return
    if (event.key === 'Escape') this.#close()
    else if (event.key === 'Enter' && event.target === this.#wanted) this.#step(event.shiftKey ? -1 : 1)
    else if (event.key === 'Enter' && event.target === this.#replacement) this.#replace('one')
    else return
    event.preventDefault()
  }
}

function field(name: string): HTMLInputElement {
  const input = document.createElement('input')
  input.type = 'text'
  input.dir = 'auto'
  input.spellcheck = false
  input.placeholder = name
  input.setAttribute('aria-label', name)
  return input
}

function button(name: string, sign: Sign, onClick: () => void): HTMLButtonElement {
  const element = document.createElement('button')
  element.type = 'button'
  element.title = name
  element.setAttribute('aria-label', name)
  element.append(signElement(sign))
  element.addEventListener('click', onClick)
  return element
}

function group(...elements: HTMLElement[]): HTMLElement {
  const element = document.createElement('div')
  element.append(...elements)
  return element
}
