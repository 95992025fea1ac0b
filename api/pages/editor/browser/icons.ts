import { createElement, type IconNode } from 'lucide'

/** The sign of a command: an icon, or a short text where no icon is known to people. */
export type Sign = IconNode | string

/** Makes the element that shows a sign. It is not read aloud, because its button or line has a name. */
export function signElement(sign: Sign): Element {
  if (typeof sign !== 'string') return createElement(sign, { width: 18, height: 18, 'aria-hidden': 'true' })
  const element = document.createElement('span')
  element.setAttribute('aria-hidden', 'true')
  element.textContent = sign
  return element
}
