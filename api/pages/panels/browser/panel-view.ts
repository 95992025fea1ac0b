// The pause after the document was stored until the panel is asked for again. Then the first and the longest pause
// while something is being derived. All are in milliseconds.
const storedPause = 1500
const pendingPauses = { first: 1500, longest: 30_000 }

/**
 * A panel in its place. Its forms are sent without leaving the page. It asks for itself again while something is being
 * derived that it shows, except while the user fills in one of its forms.
 */
export class PanelView {
  readonly #place: HTMLElement
  /** What screen readers say after the user has done something. */
  readonly #status = document.createElement('p')
  /** The path and the query of what is shown. */
  #address: string
  #timer = 0
  #pause = pendingPauses.first
  /** Counts the questions, so that the answer to an earlier question is dropped. */
  #asked = 0
  #isFilledIn = false
  /** Whether the user waits for an answer. */
  #isAsked = false
  /** Whether a form is under way. */
  #isSending = false
  #isSoon = false
  #isClosed = false

  constructor(place: HTMLElement, address: string) {
    this.#place = place
    this.#address = address
    this.#status.className = 'visually-hidden'
    this.#status.setAttribute('role', 'status')
    place.after(this.#status)
    place.addEventListener('submit', (event) => this.#onSubmit(event))
    place.addEventListener('click', (event) => this.#onClick(event))
    place.addEventListener('input', () => {
      this.#isFilledIn = true
    })
    this.#planNext()
  }

  /** Whether the panel holds what the user has typed and not sent. */
  get isFilledIn(): boolean {
    return this.#isFilledIn
  }

  /** Asks for the panel for the first time. */
  open(): void {
    void this.#ask({ address: this.#address })
  }

  /** Asks for the panel again after a pause, in which further calls change nothing. */
  refreshSoon(): void {
    if (this.#isSoon) return
    this.#isSoon = true
    setTimeout(() => {
      this.#isSoon = false
      this.refresh()
    }, storedPause)
  }

  /** Asks for the panel again, unless the user is busy with it. */
  refresh(): void {
    if (this.#isClosed || this.#isAsked) return
    if (document.hidden || this.#isFilledIn) this.#planNext()
    else void this.#askAgain()
  }

  /** Removes the panel from the page. */
  close(): void {
    clearTimeout(this.#timer)
    this.#isClosed = true
    this.#status.remove()
    this.#place.remove()
  }

  #onSubmit(event: SubmitEvent): void {
    const form = event.target as HTMLFormElement
    const fields = new URLSearchParams()
    for (const [name, value] of new FormData(form, event.submitter)) fields.append(name, String(value))
    // A control named `action` or `method` would hide the property of the form.
    const address = form.getAttribute('action') ?? this.#address
    const isPost = form.getAttribute('method') === 'post'
    event.preventDefault()
    // A second click says nothing new, and the service would take it for a second wish.
    if (this.#isSending) return
    this.#isSending = isPost
    void this.#ask(isPost ? { address, body: fields } : { address: `${address}?${fields}` })
  }

  // A link to another view of the panel changes the panel. Every other link leads away.
  #onClick(event: MouseEvent): void {
    const link = (event.target as Element).closest('a')
    const isPlain = !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey)
    if (link === null || !isPlain || link.hash !== '' || link.origin !== location.origin) return
    if (link.pathname !== this.#address.split('?')[0]) return
    event.preventDefault()
    if (!mayLeave(this)) return
    void this.#ask({ address: link.pathname + link.search })
  }

  // Asks for what the user wants to see or do, and tells what came of it, also to a screen reader.
  async #ask(question: Question): Promise<void> {
    this.#isAsked = true
    const answer = await this.#answerTo(question)
    if (question.body !== undefined) this.#isSending = false
    if (answer === 'outdated') return
    this.#isAsked = false
    if (answer === 'unreachable') this.#tell(unreachable)
    else if (answer.isSignIn) this.#tell(signedOut)
    else if (answer.panel === null) location.assign(answer.address)
    else {
      const stays = question.body !== undefined && !answer.isRedirected
      if (!stays) this.#address = answer.address
      // The forms of a refused answer hold what was typed.
      this.#isFilledIn = stays
      this.#show(answer.panel)
      this.#status.textContent = outcomeOf(answer.panel)
    }
    this.#planNext()
  }

  // Asks for what the panel shows, without the user. So the panel stays as it is while the service is out of reach.
  async #askAgain(): Promise<void> {
    const answer = await this.#answerTo({ address: this.#address })
    if (answer === 'outdated') return
    if (answer !== 'unreachable') {
      if (answer.isSignIn) return this.#tell(signedOut)
      if (answer.panel !== null && !this.#isFilledIn) this.#show(answer.panel)
    }
    this.#planNext()
  }

  async #answerTo(question: Question): Promise<Answer | 'unreachable' | 'outdated'> {
    clearTimeout(this.#timer)
    this.#asked += 1
    const asked = this.#asked
    this.#place.setAttribute('aria-busy', 'true')
    const answer = await fetchPanel(question)
    if (asked !== this.#asked || this.#isClosed) return 'outdated'
    this.#place.removeAttribute('aria-busy')
    return answer ?? 'unreachable'
  }

  // The focus stays on the same control where the new content has it, too.
  #show(panel: Element): void {
    this.#place.toggleAttribute('data-pending', panel.hasAttribute('data-pending'))
    if (shownIn(this.#place) === shownIn(panel)) return
    const focused = controls(this.#place).indexOf(document.activeElement as HTMLElement)
    const name = nameOf(document.activeElement)
    const opened = new Set(detailsIn(this.#place).flatMap((part) => (part.open ? [summaryOf(part)] : [])))
    for (const part of detailsIn(panel)) if (opened.has(summaryOf(part))) part.open = true
    this.#place.replaceChildren(...panel.childNodes)
    if (focused < 0) return
    const now = controls(this.#place)
    const again = now.find((control) => nameOf(control) === name) ?? now[focused] ?? now.at(-1)
    again?.focus()
  }

  // Says in front of the content why a question was not answered.
  #tell(words: string): void {
    this.#place.querySelector('.unanswered')?.remove()
    const message = document.createElement('p')
    message.className = 'notice bad unanswered'
    message.setAttribute('role', 'alert')
    message.textContent = words
    this.#place.prepend(message)
  }

  #planNext(): void {
    clearTimeout(this.#timer)
    if (!this.#place.hasAttribute('data-pending')) {
      this.#pause = pendingPauses.first
      return
    }
    this.#timer = window.setTimeout(() => this.refresh(), this.#pause)
    this.#pause = Math.min(2 * this.#pause, pendingPauses.longest)
  }
}

const unreachable = 'The service cannot be reached. Nothing has been changed; try again in a moment.'
const signedOut = 'You are signed out. Reload the page to sign in again.'

/** A question to the service; with a body it is a form. */
type Question = { address: string; body?: URLSearchParams }

/** An answer of the service. `panel` is null for another page that the user is to be sent to. */
type Answer = { address: string; isRedirected: boolean; isSignIn: boolean; panel: Element | null }

// Null while the service is out of reach. A page that says why the service refused is shown as a panel.
async function fetchPanel({ address, body }: Question): Promise<Answer | null> {
  try {
    const headers = { 'X-Fragment': 'true' }
    const response = await fetch(address, body === undefined ? { headers } : { method: 'POST', headers, body })
    const { redirected: isRedirected, url } = response
    const { pathname, search } = new URL(url)
    const page = new DOMParser().parseFromString(await response.text(), 'text/html')
    const refusal = isRedirected ? null : page.querySelector('main')
    const panel = page.querySelector('.panel') ?? refusal
    return { address: pathname + search, isRedirected, isSignIn: pathname === '/login', panel }
  } catch {
    return null
  }
}

// What a screen reader says about a panel that the user has changed: a message of the panel, or how fresh it is.
function outcomeOf(panel: Element): string {
  return (panel.querySelector('.notice') ?? panel.querySelector('.freshness'))?.textContent?.trim() ?? ''
}

/** Asks a user who has typed something into a panel whether it may go. True if it may. */
export function mayLeave({ isFilledIn }: PanelView): boolean {
  return !isFilledIn || confirm('What you have written in the panel is not saved. Leave it?')
}

function detailsIn(panel: Element): HTMLDetailsElement[] {
  return [...panel.querySelectorAll('details')]
}

function summaryOf(part: HTMLDetailsElement): string {
  return part.querySelector('summary')?.textContent ?? ''
}

// The content of a panel. The keys of its forms differ in each answer, and the user has opened parts of it.
function shownIn(panel: Element): string {
  const shown = panel.cloneNode(true) as Element
  for (const key of shown.querySelectorAll('input[name="form_key"]')) key.remove()
  for (const part of detailsIn(shown)) part.removeAttribute('open')
  return shown.innerHTML
}

function controls(place: HTMLElement): HTMLElement[] {
  return [...place.querySelectorAll<HTMLElement>('a[href], button, input, select, textarea, summary')]
}

function nameOf(element: Element | null): string {
  return `${element?.localName} ${element?.getAttribute('href') ?? element?.getAttribute('name')} ${element?.textContent}`
}
