import type { HocuspocusProvider } from '@hocuspocus/provider'
import { createDecoder, readVarInt, readVarString, readVarUint, readVarUint8Array } from 'lib0/decoding'
import {
  ContentString,
  ContentType,
  type Doc,
  decodeStateVector,
  decodeUpdate,
  encodeStateAsUpdate,
  encodeStateVector,
  Item,
} from 'yjs'

/*
 * Changes that the service has refused, because their user may only read the document now, or because the service has
 * another document in its place. They are in the document of this page, and in no other document.
 */

/** Text that the service has refused, and why. The text is empty for deletions and formatting. */
export type RefusedText = { reason: 'forbidden' | 'document_replaced'; text: string }

// Messages of Hocuspocus, and the first step of the synchronisation of Yjs.
const message = { sync: 0, syncStatus: 8 }
const firstStep = 0

/**
 * Calls `onRefused` once with the refused text, when the service says that it has not taken changes. The text is empty
 * when the changes were deletions or formatting. The service also refuses what it has not read yet itself, so refusals
 * count only while `isConcerned`: while there are changes of this page.
 */
export function watchRefusals(
  provider: HocuspocusProvider,
  { isConcerned, onRefused }: { isConcerned: () => boolean; onRefused: (text: string) => void },
): void {
  let state: 'none' | 'asked' | 'told' = 'none'
  provider.on('message', ({ event }: { event: { data: ArrayBuffer } }) => {
    const decoder = createDecoder(new Uint8Array(event.data))
    readVarString(decoder)
    const type = readVarUint(decoder)
    if (type === message.syncStatus && state === 'none' && isConcerned() && readVarInt(decoder) === 0) {
      state = 'asked'
      // The service answers with what it has.
      provider.forceSync()
    } else if (type === message.sync && state === 'asked' && readVarUint(decoder) === firstStep) {
      state = 'told'
      onRefused(textBeyond(provider.document, decodeStateVector(readVarUint8Array(decoder))))
    }
  })
}

/** The text of some clients in a live document. `stored` has, for each client, the number of its stored insertions. */
export function unsavedText(live: Doc, stored: ReadonlyMap<number, number>): string {
  return textBeyond(live, new Map([...decodeStateVector(encodeStateVector(live)), ...stored]))
}

// The text in a live document that is not among what a state vector names, with a line for each stretch.
function textBeyond(live: Doc, vector: Map<number, number>): string {
  const { structs } = decodeUpdate(encodeStateAsUpdate(live, encodeStateVector(vector)))
  let text = ''
  for (const struct of structs) {
    if (!(struct instanceof Item)) continue
    if (struct.content instanceof ContentString) text += struct.content.str
    if (struct.content instanceof ContentType && !text.endsWith('\n')) text += '\n'
  }
  return text.trim()
}

/** Keeps refused text for the next load of the page in this tab. Returns false when there is such text already. */
export function keepRefusedText(documentId: string, refused: RefusedText): boolean {
  const key = keyOf(documentId)
  if (sessionStorage.getItem(key) !== null) return false
  sessionStorage.setItem(key, JSON.stringify(refused))
  return true
}

/** The refused text that an earlier load of the page has kept; null when there is none. */
export function keptRefusedText(documentId: string): RefusedText | null {
  return JSON.parse(sessionStorage.getItem(keyOf(documentId)) ?? 'null')
}

/** Forgets the refused text. */
export function forgetRefusedText(documentId: string): void {
  sessionStorage.removeItem(keyOf(documentId))
}

function keyOf(documentId: string): string {
  return `refused text ${documentId}`
}
