import type { RefusedText } from './refused-changes.ts'

/** What the page knows about its connection and about what its user has typed. */
export type SaveFacts = {
  /** `open` while the document is synchronised with the service; `closed` after the service has refused the user. */
  connection: 'opening' | 'open' | 'lost' | 'closed'
  /** Whether the user may write. */
  writing: boolean
  /** Whether the user has typed something that is not known to be stored. */
  unsaved: boolean
  /** The code of the error for which the service could not store the text; null while there is none. */
  refusal: string | null
  /** The longest of the changed blocks of a text that was refused: its id if others can have it, and its beginning. */
  longest: { id: string | null; text: string } | null
  /** Whether the copy of the document in this browser has everything; `none` where the browser keeps no copy. */
  copy: 'none' | 'behind' | 'current'
}

/** The state of saving: a name for the stylesheet, and a sentence for the user. */
export type SaveState = {
  name: 'opening' | 'saved' | 'saving' | 'offline' | 'unsaved' | 'reading' | 'closed'
  words: string
  /** The id of a block that the words are about. */
  blockId?: string | null
}

/** Tells in words whether the text of the user is stored. */
export function saveStateOf(facts: SaveFacts): SaveState {
  const { connection, writing, unsaved, refusal, longest } = facts
  if (connection === 'closed')
    return { name: 'closed', words: unsaved ? 'Closed. The last changes are not saved.' : 'Closed.' }
  if (connection === 'lost' || (connection === 'opening' && unsaved))
    return { name: 'offline', words: offlineWords(facts) }
  if (connection === 'opening') return { name: 'opening', words: 'Connecting…' }
  if (!writing) return { name: 'reading', words: 'Read only' }
  if (refusal !== null) {
    const block = longest?.text ? ` The longest change begins with “${longest.text}”.` : ''
    const words = `Not saved: ${reasons[refusal] ?? 'the service has a problem.'}${block}`
    return { name: 'unsaved', words, blockId: longest?.id ?? null }
  }
  return unsaved ? { name: 'saving', words: 'Saving…' } : { name: 'saved', words: 'Saved' }
}

function offlineWords({ writing, unsaved, copy }: SaveFacts): string {
  if (!writing) return 'Offline. You see the document as it was.'
  if (copy === 'none') return unsaved ? 'Offline. Keep this page open: your changes are only here.' : 'Offline.'
  if (!unsaved) return 'Offline. What you type is kept on this device.'
  return copy === 'current'
    ? 'Offline. Your changes are kept on this device until you sign out.'
    : 'Offline. Keeping your changes…'
}

const reasons: { [code: string]: string } = {
  document_too_large: 'the document is too large. Remove something, and the rest will be saved.',
  invalid_node: 'the document is too long or nested too deeply. Remove something, and the rest will be saved.',
  service_unavailable: 'the service is busy. It tries again by itself.',
}

/** Why a document was closed, in words for the user. `reason` is a reason of live editing. */
export function closingWords(reason: string): string {
  return closings[reason] ?? 'The connection was refused. Reload the page to try again.'
}

const closings: { [reason: string]: string } = {
  invalid_token: 'You are signed out. Reload the page to sign in again.',
  document_not_found: 'This document was deleted, or you may no longer read it.',
  too_many_connections: 'Too many people have this document open. Reload the page to try again.',
  rate_limited: 'This page has connected too often. Wait a minute, then reload the page.',
  forbidden: 'This page was opened under another address than that of the service.',
}

/** Which text of the user was refused, and why, in words for the user. */
export function refusalWords({ reason, text }: RefusedText): string {
  if (reason === 'document_replaced') {
    const words = 'The service has another state of this document now, for instance from a backup.'
    return text === '' ? words : `${words} This text of yours was not saved:`
  }
  const words = text === '' ? 'Your last changes were not saved' : 'This text of yours was not saved'
  return `${words}, because you may only read this document now.`
}
