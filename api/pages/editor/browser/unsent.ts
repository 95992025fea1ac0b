/*
 * The page of a document that was deleted, or that the user may no longer read. What reads a copy of the document is
 * loaded only when this browser has such a copy.
 */

const place = document.querySelector<HTMLElement>('#unsent')
const id = place?.dataset['documentId'] ?? ''
const copies = await indexedDB.databases()
if (place !== null && copies.some(({ name }) => name?.endsWith(` ${id}`))) {
  const { showUnsent } = await import('./unsent-text.ts')
  await showUnsent(place)
}

export {}
