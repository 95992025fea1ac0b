import { fromBase64, toBase64 } from 'lib0/buffer'
import { mergeUpdates } from 'yjs'

/*
 * Updates that a page was still writing into its copy when it went. A browser gives up what a page writes into
 * IndexedDB as soon as the page goes. So a reload right after a letter could lose this letter. The local storage takes
 * what is left at once, and the next page that opens the copy writes it there.
 */

/** Updates that were left beside a copy, as one update. `key` is their place in the local storage. */
export type Left = { key: string; update: Uint8Array }

/** Leaves updates of a Yjs client beside the copy with a name, in place of what the client has left there before. */
export function leaveUpdates(copy: string, { client, updates }: { client: number; updates: Uint8Array[] }): void {
  try {
    localStorage.setItem(keyOf(copy, client), toBase64(mergeUpdates(updates)))
  } catch {
    // The browser stores nothing more.
  }
}

/** Everything that was left beside a copy. */
export function leftUpdates(copy: string): Left[] {
  const keys = Object.keys(localStorage).filter((key) => key.startsWith(`${copy} `))
  return keys.map((key) => ({ key, update: fromBase64(localStorage.getItem(key) ?? '') }))
}

/** Forgets what a Yjs client has left beside a copy. */
export function forgetLeft(copy: string, client: number): void {
  localStorage.removeItem(keyOf(copy, client))
}

function keyOf(copy: string, client: number): string {
  return `${copy} ${client}`
}
