import * as Y from 'yjs'
import { type Application, applyDocument } from './apply.ts'
import { derivationClient } from './derivation.ts'
import { bodyFragment, type RawDocument, readDocument, writeNodes } from './encoding.ts'
import { keptAside, leaveFormats } from './yjs-internals.ts'

/**
 * Opens a Y document from its stored state and the updates logged since the state was stored, oldest first. Yjs then
 * forgets deleted content.
 */
export function openState(...updates: readonly Uint8Array[]): Y.Doc {
  const doc = followingDoc()
  doc.transact(() => {
    for (const update of updates) Y.applyUpdate(doc, update)
  })
  return doc
}

/** An empty Y document for the states and updates of a stored document. */
export function followingDoc(): Y.Doc {
  const doc = new Y.Doc({ gc: true })
  leaveFormats(doc)
  return doc
}

/**
 * Derives the first Y state of a body (Yjs encoding v1). Call this function once in the life of a document, while the
 * row of the document is locked. Store the result before anybody is served. Two derived states have different client
 * ids, so Yjs would merge them to a body with every block twice. `derivation.ts` tells them apart.
 */
export function deriveState(body: RawDocument): Uint8Array {
  const doc = new Y.Doc({ gc: true })
  doc.clientID = derivationClient()
  doc.transact(() => bodyFragment(doc).insert(0, writeNodes(body.content)))
  return Y.encodeStateAsUpdate(doc)
}

/**
 * Applies the difference between the bodies `from` and `to` to a Y document in memory, as `applyDocument` does. The
 * document may hold edits of people that `from` does not have yet. Returns the update, or null when nothing changed.
 * @internal
 */
export function followInto(doc: Y.Doc, change: Omit<Application, 'fragment'>): Uint8Array | null {
  const updates: Uint8Array[] = []
  const collect = (update: Uint8Array) => updates.push(update)
  doc.on('update', collect)
  try {
    applyDocument({ fragment: bodyFragment(doc), ...change })
  } finally {
    doc.off('update', collect)
  }
  return updates[0] === undefined ? null : mergeUpdates(updates)
}

/** The body that a stored state contains. @internal */
export function readState(state: Uint8Array): RawDocument {
  return readDocument(bodyFragment(openState(state))).document
}

/**
 * Tells whether Yjs keeps back more updates of a document than when this function was called, because they build on
 * something that is missing.
 */
export function watchKeptBack(doc: Y.Doc): () => boolean {
  const keptBack = () => {
    const { structs, deletions } = keptAside(doc)
    return [structs, deletions]
  }
  const before = keptBack()
  return () => keptBack().some((bytes, index) => Buffer.compare(bytes, before[index] as Uint8Array) !== 0)
}

/**
 * Merges several updates into one update without opening a Y document. Yjs sorts all updates anew for each struct that
 * it writes. So many updates are merged in groups, and then the results of the groups.
 */
export function mergeUpdates(updates: readonly Uint8Array[]): Uint8Array {
  if (updates.length === 1 && updates[0]) return updates[0]
  if (updates.length <= mostAtOnce) return Y.mergeUpdates([...updates])
  const groups = Array.from({ length: Math.ceil(updates.length / mostAtOnce) }, (_, group) =>
    mergeUpdates(updates.slice(group * mostAtOnce, (group + 1) * mostAtOnce)),
  )
  return mergeUpdates(groups)
}

// The most updates that Yjs merges at once.
const mostAtOnce = 64

/**
 * Merges a state with the updates logged since the state was stored into one state without deleted content. This
 * function costs less than `mergeUpdates`. @internal
 */
export function compact(state: Uint8Array, log: readonly Uint8Array[]): Uint8Array {
  return Y.encodeStateAsUpdate(openState(state, ...log))
}
