// The pause after the document was stored until the panel is asked for again, and the pauses while something is being
// derived, from the first to the longest. All are in milliseconds.
const storedPause = 1500
const pendingPauses = { first: 1500, longest: 30_000 }

/**
 * A panel in its place. Its forms are sent without leaving the page. It asks for itself again while something is being
 * derived that it shows, except while the user fills in one of its forms.
 */
export class PanelView {
  readonly #place: HTMLElement
  /** The path and the query of what is shown. */
  #address: string
  #timer = 0
  #pause = pendingPauses.first
  /** Counts the questions, so that the answer to an earlier question is dropped. */
  #asked = 0
  #isFilledIn = false
  #isSoon = false
  #isClosed = false

  constructor(place: HTMLElement, address: string) {
    this.#place = place
    this.#address = address
    place.addEventListener('submit', (event) => this.#onSubmit(event))
    place.addEventListener('click', (event) => this.#onClick(event))
    place.addEventListener('input', () => {
      this.#isFilledIn = true
    })
    this.#planNext()
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

  /** Asks for the panel and shows it. */
  refresh(): void {
    if (this.#isClosed) return
    if (document.hidden || this.#isFilledIn) this.#planNext()
    else void this.#ask({ address: this.#address })
  }

  /** Removes the panel from the page. */
  close(): void {
    clearTimeout(this.#timer)
    this.#isClosed = true
    this.#place.remove()
  }

  #onSubmit(event: SubmitEvent): void {
    const form = event.target as HTMLFormElement
    const fields = new URLSearchParams()
    for (const [name, value] of new FormData(form, event.submitter)) fields.append(name, String(value))
    const { pathname } = new URL(form.action)
    event.preventDefault()
    void this.#ask(form.method === 'post' ? { address: pathname, body: fields } : { address: `${pathname}?${fields}` })
  }

  // A link to another view of the panel changes the panel. Every other link leads away.
  #onClick(event: MouseEvent): void {
    const link = (event.target as Element).closest('a')
    const isPlain = !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey)
    if (link === null || !isPlain || link.hash !== '' || link.origin !== location.origin) return
    if (link.pathname !== this.#address.split('?')[0]) return
    event.preventDefault()
    void this.#ask({ address: link.pathname + link.search })
  }

  async #ask({ address, body }: { address: string; body?: URLSearchParams }): Promise<void> {
    clearTimeout(this.#timer)
    this.#asked += 1
    const asked = this.#asked
    this.#place.setAttribute('aria-busy', 'true')
    const answer = await fetchPanel(address, body)
    if (asked !== this.#asked || this.#isClosed) return
    this.#place.removeAttribute('aria-busy')
    if (answer === null) return this.#planNext()
    if (answer.isElsewhere) return location.assign(answer.address)
    this.#address = answer.address
    this.#isFilledIn = false
    this.#show(answer.panel)
    this.#planNext()
  }

  // The focus stays on the same control where the new content has it, too.
  #show(panel: Element): void {
    this.#place.toggleAttribute('data-pending', panel.hasAttribute('data-pending'))
    this.#place.dataset['panel'] = panel.getAttribute('data-panel') ?? ''
    if (this.#place.innerHTML === panel.innerHTML) return
    const focused = controls(this.#place).indexOf(document.activeElement as HTMLElement)
    const name = nameOf(document.activeElement)
    this.#place.replaceChildren(...panel.childNodes)
    if (focused < 0) return
    const now = controls(this.#place)
    const again = now.find((control) => nameOf(control) === name) ?? now[focused] ?? now.at(-1)
    again?.focus()
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

/** A panel that the service has answered. `isElsewhere`: the answer is another page, such as that for signing in. */
type Answer = { address: string; isElsewhere: boolean; panel: Element }

// Null while the service is out of reach. A page that says why the service refused is shown in place of the panel.
async function fetchPanel(address: string, body: URLSearchParams | undefined): Promise<Answer | null> {
  try {
    const headers = { 'X-Fragment': 'true' }
    const response = await fetch(address, body === undefined ? { headers } : { method: 'POST', headers, body })
    const { pathname, search } = new URL(response.url)
    const page = new DOMParser().parseFromString(await response.text(), 'text/html')
    const panel = page.querySelector('.panel') ?? page.querySelector('main') ?? page.body
    const isElsewhere = response.redirected && page.querySelector('.panel') === null
    return { address: pathname + search, isElsewhere, panel }
  } catch {
    return null
  }
}

function controls(place: HTMLElement): HTMLElement[] {
  return [...place.querySelectorAll<HTMLElement>('a[href], button, input, select, textarea, summary')]
}

function nameOf(element: Element | null): string {
  return `${element?.localName} ${element?.getAttribute('href') ?? element?.getAttribute('name')} ${element?.textContent}`
}
