/*
 * The script of the page of a sign-in link. It moves the code of the link into the form and out of the address, where
 * the history of the browser would keep it. The person then only presses the button.
 */

const code = document.querySelector<HTMLInputElement>('#code')
const field = document.querySelector<HTMLElement>('#code-field')
const button = document.querySelector<HTMLButtonElement>('#sign-in')

if (code !== null && location.hash.length > 1) {
  code.value = location.hash.slice(1)
  history.replaceState(null, '', location.pathname)
  field?.setAttribute('hidden', '')
  button?.focus()
}
