import { type Document, MessageType } from '@hocuspocus/server'
import { createDecoder, readVarString, readVarUint } from 'lib0/decoding'
import type { EditorConnection } from './editor.ts'

/*
 * The presence of editors: cursors, selections and names, which Yjs calls awareness. Each client sends the state of its
 * own client id, and every other client shows it.
 */

// The largest message with states, in bytes. An editor's state has some hundred bytes.
const mostBytes = 65_536
// The most client ids that one connection may use. An editor uses one, and a new one when its page is loaded again.
const mostClientIds = 10
// The deepest nesting of a state. The programs that compare and write states descend into them without a limit.
const mostLevels = 32

/** The states of clients by their ids, which an editor fills as it likes. */
export type ClientStates = Map<number, Record<string, unknown>>

/**
 * Whether a message of the protocol carries states that are too large. Such a message is dropped: its editor can still
 * write, and others keep its last cursor.
 */
export function isTooLargeAwareness(message: Uint8Array): boolean {
  if (message.byteLength <= mostBytes) return false
  try {
    const decoder = createDecoder(message)
    readVarString(decoder)
    return readVarUint(decoder) === MessageType.Awareness
  } catch {
    // The message is malformed, and whoever reads it says so.
    return false
  }
}

/**
 * Makes the states that a client has sent fit for others: `user` becomes the account of the connection, whatever the
 * client has written there. States of other users' clients are dropped, and so are client ids beyond the limit and
 * states that are no objects or nested too deeply.
 */
export function nameStates(inbound: { states: ClientStates; connection: EditorConnection; document: Document }): void {
  const { states, connection, document } = inbound
  const { author } = connection.context.editor
  dropOwnState(states)
  const own = ownClientIds(connection)
  for (const [clientId, state] of states) {
    const isKnown = own.has(clientId) || own.size < mostClientIds
    const isOwn = isKnown && belongsTo(document, { clientId, userId: author.id })
    const hasMembers = typeof state === 'object' && !Array.isArray(state)
    if (!isOwn || !hasMembers || isDeeperThan(mostLevels, state)) {
      states.delete(clientId)
      continue
    }
    own.add(clientId)
    ownersIn(document).set(clientId, connection)
    state['user'] = { ...author }
  }
}

const clientIds = new WeakMap<EditorConnection, Set<number>>()
const owners = new WeakMap<Document, Map<number, EditorConnection>>()

// The client ids that a connection has used. They are free for others when it closes.
function ownClientIds(connection: EditorConnection): Set<number> {
  const known = clientIds.get(connection)
  if (known !== undefined) return known
  const own = new Set<number>()
  clientIds.set(connection, own)
  const ofDocument = ownersIn(connection.document)
  connection.onClose(() => {
    for (const clientId of own) if (ofDocument.get(clientId) === connection) ofDocument.delete(clientId)
  })
  return own
}

function ownersIn(document: Document): Map<number, EditorConnection> {
  const known = owners.get(document) ?? new Map<number, EditorConnection>()
  owners.set(document, known)
  return known
}

// Hocuspocus collects the states of a message in an object that begins with an empty state of its own.
function dropOwnState(states: ClientStates): void {
  for (const [clientId, state] of states) {
    if (Object.keys(state).length === 0) states.delete(clientId)
    return
  }
}

function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((member) => isDeeperThan(levels - 1, member))
}

/**
 * Whether nobody uses the client id, or the same user. A client that connects anew keeps its id, while its state from
 * the connection before is still there, on this process or another. The id of an open connection stays its own when its
 * state has vanished, as that of a page in the background does.
 */
export function belongsTo(document: Document, { clientId, userId }: { clientId: number; userId: string }): boolean {
  const owner = ownersIn(document).get(clientId)?.context.editor.userId
  if (owner !== undefined && owner !== userId) return false
  const state = document.awareness.getStates().get(clientId)
  return state === undefined || state['user']?.id === userId
}
