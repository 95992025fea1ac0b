import Sortable from 'sortablejs'

/*
 * The list of a folder in which a person arranges the items by drag. The buttons beside the items do the same without
 * scripts.
 */

const list = document.querySelector<HTMLElement>('.listing.arranging')
const status = document.querySelector<HTMLElement>('#arranged')
if (list !== null && status !== null) makeDraggable(list, status)

function makeDraggable(list: HTMLElement, status: HTMLElement): void {
  let before: string[] = []
  addGrips(list)
  const sortable = Sortable.create(list, {
    draggable: '.listed',
    handle: '.grip',
    dataIdAttr: 'id',
    animation: matchMedia('(prefers-reduced-motion: reduce)').matches ? 0 : 150,
    // Folders stand before documents, so an item stays among the items of its kind.
    onMove: ({ dragged, related }) => kindOf(dragged) === kindOf(related),
    onStart: () => {
      before = sortable.toArray()
    },
    onEnd: async ({ item }) => {
      if (sortable.toArray().join() === before.join()) return
      const name = item.querySelector('.name')?.textContent ?? ''
      const isMoved = await store(list, item).catch(() => false)
      if (!isMoved) sortable.sort(before, true)
      status.textContent = isMoved
        ? `“${name}” has a new place.`
        : `“${name}” was not moved. Reload the page, and try again.`
    },
  })
}

// A finger or a mouse holds an item by its grip, so that the page can still be scrolled by the rest of the item.
function addGrips(list: HTMLElement): void {
  for (const item of list.querySelectorAll('.listed')) {
    const grip = document.createElement('span')
    grip.className = 'grip'
    grip.setAttribute('aria-hidden', 'true')
    item.prepend(grip)
  }
}

/**
 * Sends the form of a moved item with its new neighbour, and shows the list as the service answers it, because the
 * buttons of other items name their neighbours. Returns false when the service has refused.
 */
async function store(list: HTMLElement, item: HTMLElement): Promise<boolean> {
  const form = item.querySelector<HTMLFormElement>('form.arrange')
  const neighbour = neighbourOf(item)
  if (form === null || neighbour === null) return false
  const fields = new URLSearchParams([...new FormData(form)].map(([name, value]) => [name, String(value)]))
  fields.set(...neighbour)
  const answer = await fetch(form.action, { method: 'POST', body: fields })
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
  const arranged = page.querySelector('.listing.arranging')
  if (!answer.ok || arranged === null) return false
  list.replaceChildren(...arranged.children)
  addGrips(list)
  return true
}

// The field that says where the item is now: before the next item of its kind, or after the last.
function neighbourOf(item: HTMLElement): ['before' | 'after', string] | null {
  const [next, previous] = [item.nextElementSibling, item.previousElementSibling]
  if (next !== null && kindOf(next) === kindOf(item)) return ['before', idOf(next)]
  return previous !== null && kindOf(previous) === kindOf(item) ? ['after', idOf(previous)] : null
}

function kindOf(item: Element): string {
  return item.getAttribute('data-kind') ?? ''
}

function idOf(item: Element): string {
  return item.id.replace(/^item-/, '')
}
