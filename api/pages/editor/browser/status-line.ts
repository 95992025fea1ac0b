import type { SaveState } from './save-state.ts'

/** The line above the text that says whether the text is stored, and messages that need attention. */
export class StatusLine {
  readonly element = document.createElement('div')
  readonly #state = document.createElement('p')
  readonly #messages = document.createElement('div')

  constructor() {
    this.element.className = 'status'
    this.#state.className = 'save-state'
    this.#state.setAttribute('role', 'status')
    this.#messages.setAttribute('role', 'alert')
    this.element.append(this.#state, this.#messages)
  }

  /** Shows the state of saving. */
  show({ name, words }: SaveState): void {
    if (this.#state.dataset['state'] === name && this.#state.textContent === words) return
    this.#state.dataset['state'] = name
    this.#state.textContent = words
  }

  /** Shows a message that stays. `quote` is text of the user, which the user may want to copy. */
  warn(words: string, quote = ''): void {
    const message = document.createElement('p')
    message.className = 'notice bad'
    message.textContent = words
    if (quote !== '') {
      const text = document.createElement('q')
      text.textContent = quote
      message.append(' ', text)
    }
    this.#messages.append(message)
  }
}
