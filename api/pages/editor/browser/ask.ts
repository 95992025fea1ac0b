/** A question with one text as its answer. */
export type Question = {
  title: string
  /** What the text is, such as “Address”. */
  label: string
  value: string
  /** Whether the text may have several lines. */
  multiline?: boolean
  /** What the button says that takes the text. */
  submit: string
  /** What the button says that answers with an empty text; without it there is no such button. */
  remove?: string
  /** An address that the dialog offers to open; without it there is no such link. */
  open?: string
}

/**
 * Asks the user for a text in a dialog. Resolves to null when the user cancels. The focus then is where it was before.
 */
export function ask(question: Question): Promise<string | null> {
  const { title, label, value, multiline = false, submit, remove, open } = question
  const dialog = document.createElement('dialog')
  const form = document.createElement('form')
  form.method = 'dialog'
  const heading = document.createElement('h2')
  heading.id = 'question'
  heading.textContent = title
  dialog.setAttribute('aria-labelledby', heading.id)
  const field = document.createElement(multiline ? 'textarea' : 'input')
  field.value = value
  field.dir = 'auto'
  field.spellcheck = false
  const named = document.createElement('label')
  named.append(label, field)
  const actions = document.createElement('div')
  actions.className = 'actions'
  actions.append(button(submit, 'take', ''), button('Cancel', 'cancel', 'second'))
  if (remove !== undefined) actions.append(button(remove, 'remove', 'danger'))
  if (open !== undefined) actions.append(openLink(open))
  form.append(heading, named, actions)
  dialog.append(form)
  document.body.append(dialog)
  dialog.showModal()
  field.select()
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove()
      if (dialog.returnValue === 'take') resolve(field.value)
      else resolve(dialog.returnValue === 'remove' ? '' : null)
    })
  })
}

function button(words: string, value: string, look: string): HTMLButtonElement {
  const one = document.createElement('button')
  one.textContent = words
  one.value = value
  one.className = look
  return one
}

function openLink(address: string): HTMLAnchorElement {
  const link = document.createElement('a')
  link.href = address
  link.target = '_blank'
  link.rel = 'noopener noreferrer nofollow'
  link.textContent = 'Open the link'
  return link
}
