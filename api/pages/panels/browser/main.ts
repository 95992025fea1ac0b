import { mayLeave, PanelView } from './panel-view.ts'
import { storedEvent } from './stored.ts'

/*
 * The panels of a document. On a panel's own page, its forms are sent without leaving the page, and the panel follows
 * what is derived. On the page of the document, the links to the panels open them beside the text where there is room.
 */

// The width of a window in which a panel fits beside the text, as in `panels.css`.
const isWide = matchMedia('(min-width: 72rem)')

const aside = document.querySelector<HTMLElement>('aside.panels')
if (aside !== null) showBeside(aside)

const alone = document.querySelector<HTMLElement>('main > .panel')
if (alone !== null) new PanelView(alone, location.pathname + location.search)

function showBeside(aside: HTMLElement): void {
  const links = [...aside.querySelectorAll<HTMLAnchorElement>('a[data-panel]')]
  let view: PanelView | null = null
  const close = () => {
    view?.close()
    view = null
    for (const link of links) link.setAttribute('aria-expanded', 'false')
  }
  const open = (link: HTMLAnchorElement) => {
    close()
    const place = document.createElement('section')
    place.className = 'panel'
    aside.append(place)
    link.setAttribute('aria-expanded', 'true')
    view = new PanelView(place, link.pathname)
    view.open()
  }
  const followWidth = () => {
    // What somebody writes in the panel stays, also where the panel comes to stand below the text.
    if (view?.isFilledIn) return
    close()
    if (isWide.matches) return
    for (const link of links) link.removeAttribute('aria-expanded')
  }
  for (const link of links) {
    link.addEventListener('click', (event) => {
      const isPlain = !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey)
      if (!isWide.matches || !isPlain) return
      event.preventDefault()
      if (view !== null && !mayLeave(view)) return
      if (link.getAttribute('aria-expanded') === 'true') close()
      else open(link)
    })
  }
  isWide.addEventListener('change', followWidth)
  followWidth()
  document.addEventListener(storedEvent, () => view?.refreshSoon())
}
