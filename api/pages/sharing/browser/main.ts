/*
 * The script of the page about a public link. It copies the address, and shows the field for a time only while a time
 * is asked for.
 */

const address = document.querySelector<HTMLInputElement>('#address')
const copy = document.querySelector<HTMLButtonElement>('#copy')
const copied = document.querySelector<HTMLElement>('#copied')

if (address !== null && copy !== null && copied !== null) {
  copy.hidden = false
  copy.addEventListener('click', async () => {
    address.select()
    // Browsers copy on pages with TLS and on this machine. Elsewhere the person copies what is selected.
    const isCopied = await navigator.clipboard?.writeText(address.value).then(
      () => true,
      () => false,
    )
    copied.textContent = isCopied === true ? 'Copied' : 'Selected, copy it with the keyboard'
  })
}

for (const select of document.querySelectorAll<HTMLSelectElement>('select[name="expires"]')) {
  const time = select.form?.querySelector<HTMLElement>('.time')
  const showTime = () => time?.toggleAttribute('hidden', select.value !== 'at')
  select.addEventListener('change', showTime)
  showTime()
}
