import type { PageData } from './page-data.ts'
import { askService } from './service.ts'

type Titled = { title: string; problem: string | null }

/**
 * Lets the user change the title where it stands. Enter and leaving the title save it, Escape takes the change back.
 * `onDone` is called when the user goes on to the text, and `warn` with a sentence when the title is not saved.
 */
export function editTitle(
  heading: HTMLElement,
  { page, onDone, warn }: { page: PageData; onDone: () => void; warn: (words: string) => void },
): { setEditable: (editable: boolean) => void } {
  const field = document.createElement('span')
  // The title that the service has, as far as this page knows.
  let known = heading.textContent ?? ''
  field.textContent = known
  field.dir = 'auto'
  heading.replaceChildren(field)
  const show = (title: string) => {
    known = title
    document.title = title
  }
  // Resolves to whether the service has the title now.
  const send = async (title: string) => {
    if (title === known) return true
    try {
      const body = JSON.stringify({ title, was: known })
      const answer = await askService<Titled>(page, { path: `/d/${page.documentId}/title`, body })
      if (answer.problem !== null) warn(answer.problem)
      show(answer.title)
      if (title === '') field.textContent = answer.title
      return answer.problem === null
    } catch {
      warn('The title was not saved. The service is out of reach, or you may not change this document.')
      return false
    }
  }
  let isSaving = false
  // The user may change the title again and leave it before the service has answered.
  const save = async () => {
    if (isSaving) return
    isSaving = true
    let title = titleIn(field)
    while ((await send(title)) && titleIn(field) !== title && document.activeElement !== field) title = titleIn(field)
    isSaving = false
  }
  field.addEventListener('blur', () => void save())
  field.addEventListener('keydown', (event) => {
    if (event.isComposing || (event.key !== 'Enter' && event.key !== 'Escape')) return
    event.preventDefault()
    if (event.key === 'Escape') field.textContent = known
    onDone()
  })
  return {
    setEditable(editable) {
      if (!editable) for (const name of ['contenteditable', 'role', 'aria-label']) field.removeAttribute(name)
      else {
        field.contentEditable = 'plaintext-only'
        field.setAttribute('role', 'textbox')
        field.setAttribute('aria-label', 'Title')
      }
    },
  }
}

function titleIn(field: HTMLElement): string {
  return (field.textContent ?? '').replace(/\s+/g, ' ').trim()
}
