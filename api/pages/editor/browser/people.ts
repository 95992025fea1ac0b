import type { HocuspocusProvider } from '@hocuspocus/provider'

/** Makes the line that names the other people who have the document open. */
export function createPeopleLine({ awareness, document: live }: HocuspocusProvider): HTMLElement {
  const line = document.createElement('p')
  line.className = 'people'
  line.setAttribute('aria-live', 'polite')
  const update = () => {
    const states = [...(awareness?.getStates() ?? [])].filter(([client]) => client !== live.clientID)
    const names = states.flatMap(([, state]) => (typeof state['user']?.name === 'string' ? [state['user'].name] : []))
    const words = names.length === 0 ? '' : `With ${[...new Set(names)].join(', ')}`
    if (line.textContent !== words) line.textContent = words
  }
  awareness?.on('change', update)
  update()
  return line
}
