import * as Y from 'yjs'
import { applyDocument } from './apply.ts'
import { bodyFragment, type RawDocument, readDocument, writeNodes } from './encoding.ts'

/** A Y document opened from its stored state and the updates logged since, oldest first. Garbage is collected. */
export function openState(...updates: readonly Uint8Array[]): Y.Doc {
  const doc = new Y.Doc({ gc: true })
  doc.transact(() => {
    for (const update of updates) Y.applyUpdate(doc, update)
  })
  return doc
}

/**
 * The first Y state of a body (Yjs encoding v1). Only ever once for a document, under its lock, and stored before
 * anybody is served: two states derived apart carry different client ids and merge into every block twice.
 */
export function deriveState(body: RawDocument): Uint8Array {
  const doc = new Y.Doc({ gc: true })
  doc.transact(() => bodyFragment(doc).insert(0, writeNodes(body.content)))
  return Y.encodeStateAsUpdate(doc)
}

/**
 * Brings a stored state from the body it stands at to the current one. `update` is what the others need (null when
 * there is nothing to tell), `state` the whole. Every call writes under a client id of its own and with that adds up
 * to ten bytes to the state for good; a process that holds the document open calls `followInto` on it instead.
 */
export function catchUp(input: { state: Uint8Array; from: RawDocument; to: RawDocument }): {
  update: Uint8Array | null
  state: Uint8Array
} {
  const doc = openState(input.state)
  const update = followInto(doc, input)
  return { update, state: update === null ? input.state : Y.encodeStateAsUpdate(doc) }
}

/** As `catchUp`, for a document that is open and may be ahead of `from`. Answers the update, null if there is none. */
export function followInto(
  doc: Y.Doc,
  { from, to, origin }: { from: RawDocument; to: RawDocument; origin?: unknown },
): Uint8Array | null {
  const updates: Uint8Array[] = []
  const collect = (update: Uint8Array) => updates.push(update)
  doc.on('update', collect)
  try {
    applyDocument({ fragment: bodyFragment(doc), from, to, origin })
  } finally {
    doc.off('update', collect)
  }
  return updates[0] === undefined ? null : mergeUpdates(updates)
}

/** The body a stored state holds. */
export function readState(state: Uint8Array): RawDocument {
  return readDocument(bodyFragment(openState(state))).document
}

/** Several updates as one, without a document: for what came in from browsers since the last flush. */
export function mergeUpdates(updates: readonly Uint8Array[]): Uint8Array {
  return updates.length === 1 && updates[0] ? updates[0] : Y.mergeUpdates([...updates])
}

/** A state with the updates logged since as one new state, rid of deleted content. Cheaper than `mergeUpdates`. */
export function compact(state: Uint8Array, log: readonly Uint8Array[]): Uint8Array {
  return Y.encodeStateAsUpdate(openState(state, ...log))
}
