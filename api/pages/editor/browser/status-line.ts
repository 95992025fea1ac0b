import type { SaveState } from './save-state.ts'

/** What a message has besides its words: text of the user, which a button copies, and what its removal does. */
type MessageOptions = { quote?: string; onDismiss?: () => void }

/** Shows the user a message that stays until the user removes it. */
export type Warn = (words: string, options?: MessageOptions) => void

const needsAttention = new Set<SaveState['name']>(['unsaved', 'offline', 'closed'])

/** The line above the text that says whether the text is stored, and messages that need attention. */
export class StatusLine {
  readonly element = document.createElement('div')
  readonly #state = document.createElement('p')
  readonly #spoken = document.createElement('p')
  readonly #messages = document.createElement('div')
  #words = ''

  constructor() {
    this.element.className = 'status'
    this.#state.className = 'save-state'
    this.#state.setAttribute('role', 'status')
    // A screen reader would say at each pause in typing that the text is saved. It says what needs attention.
    this.#state.setAttribute('aria-live', 'off')
    this.#spoken.className = 'visually-hidden'
    this.#spoken.setAttribute('aria-live', 'polite')
    this.#messages.setAttribute('role', 'alert')
    this.element.append(this.#state, this.#spoken, this.#messages)
  }

  /** Shows the state of saving. */
  show({ name, words, blockId = null }: SaveState): void {
    if (this.#state.dataset['state'] === name && this.#words === words) return
    this.#words = words
    const isSpoken = needsAttention.has(name) || (name === 'saved' && this.#spoken.textContent !== '')
    this.#state.dataset['state'] = name
    this.#state.replaceChildren(words, ...(blockId === null ? [] : [' ', linkTo(blockId)]))
    if (isSpoken) this.#spoken.textContent = name === 'saved' ? 'Saved again' : words
    else if (name === 'saving' && this.#spoken.textContent === 'Saved again') this.#spoken.textContent = ''
  }

  /**
   * Shows a message that stays until the user removes it. `quote` is text of the user, which a button copies.
   * `onDismiss` is called when the user removes the message.
   */
  warn(words: string, { quote = '', onDismiss = () => {} }: MessageOptions = {}): void {
    const message = document.createElement('div')
    message.className = 'notice bad'
    const text = document.createElement('q')
    text.textContent = quote
    text.dir = 'auto'
    const actions = document.createElement('div')
    actions.className = 'actions'
    if (quote !== '') actions.append(action('Copy the text', () => copy(text)))
    const dismiss = () => {
      message.remove()
      onDismiss()
    }
    actions.append(action('Dismiss', dismiss))
    message.append(words, ...(quote === '' ? [] : [' ', text]), actions)
    this.#messages.append(message)
  }
}

function linkTo(blockId: string): HTMLAnchorElement {
  const link = document.createElement('a')
  link.href = `#${blockId}`
  link.textContent = 'Go to the block'
  return link
}

function action(name: string, run: () => void): HTMLButtonElement {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'second'
  button.textContent = name
  button.addEventListener('click', run)
  return button
}

// A page that came without encryption has no access to the clipboard. There the text is selected for the user to copy.
function copy(text: HTMLElement): void {
  if (navigator.clipboard) void navigator.clipboard.writeText(text.textContent)
  else getSelection()?.selectAllChildren(text)
}
