/*
 * The script of the search page. It searches while a person types: it asks the page for the results alone, and puts
 * them in the place of the results before. The address of the page follows, so that it can be kept and shared.
 */

// The milliseconds that typing pauses before a search.
const pauseMs = 180

const form = document.querySelector<HTMLFormElement>('#search')
const results = document.querySelector<HTMLElement>('#results')
const status = document.querySelector<HTMLElement>('#status')

let pause: ReturnType<typeof setTimeout> | undefined
let asked: AbortController | undefined
let shown = ''

if (form !== null && results !== null && status !== null) {
  const page = { form, results, status }
  form.addEventListener('input', (event) => {
    // Half a word of Chinese or Japanese is no word yet. Its end comes as an event of its own.
    if (!(event instanceof InputEvent && event.isComposing)) searchSoon(page)
  })
  form.addEventListener('compositionend', () => searchSoon(page))
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    clearTimeout(pause)
    void search(page)
  })
}

type SearchPage = { form: HTMLFormElement; results: HTMLElement; status: HTMLElement }

function searchSoon(page: SearchPage): void {
  clearTimeout(pause)
  pause = setTimeout(() => void search(page), pauseMs)
}

async function search({ form, results, status }: SearchPage): Promise<void> {
  const parameters = parametersOf(form)
  asked?.abort()
  results.removeAttribute('aria-busy')
  if (String(parameters) === shown) return
  asked = new AbortController()
  const { signal } = asked
  const path = `${form.action}?${parameters}`
  results.setAttribute('aria-busy', 'true')
  try {
    const headers = { 'X-Fragment': 'true' }
    const response = await fetch(path, { headers, signal, redirect: 'manual' })
    // A person who is signed out is sent to the sign-in page, and comes back to this search.
    if (response.type === 'opaqueredirect') return location.assign(path)
    const found = fragmentOf(await response.text())
    if (found === null) {
      status.textContent = response.status === 429 ? 'Too many searches. Wait a moment.' : 'The search did not work.'
      return
    }
    results.replaceChildren(found)
    form.querySelector('#q')?.setAttribute('aria-invalid', String(!response.ok))
    status.textContent = found.dataset['status'] ?? ''
    shown = String(parameters)
    history.replaceState(null, '', path)
  } catch {
    if (signal.aborted) return
    status.textContent = 'The service cannot be reached.'
  } finally {
    if (!signal.aborted) results.removeAttribute('aria-busy')
  }
}

// The fields that are filled in. The last word may be the beginning of a word.
function parametersOf(form: HTMLFormElement): URLSearchParams {
  const filled = [...new FormData(form)].flatMap(([name, value]) =>
    typeof value === 'string' && value.trim() !== '' ? [[name, value]] : [],
  )
  return new URLSearchParams([...filled, ['typing', 'true']])
}

// Reads the results of an answer; null for the page of an error. The answer comes from this service, whose templates
// have escaped all texts.
function fragmentOf(html: string): HTMLElement | null {
  return new DOMParser().parseFromString(html, 'text/html').querySelector<HTMLElement>('.results')
}
