import type { Connection } from '@hocuspocus/server'
import { messageYjsSyncStep1, messageYjsSyncStep2, messageYjsUpdate } from 'y-protocols/sync'
import { decodeStateVector } from 'yjs'
import { type ClientUpdate, RefusedUpdate } from '../../shared/body/yjs/client-update.ts'
import { hasOtherDerivation } from '../../shared/body/yjs/derivation.ts'
import { closeConnection, reset, SilentError, tryAgainLater } from './closing.ts'
import type { CollabMetrics } from './metrics.ts'
import type { OpenDocument } from './open-document.ts'
import type { ConnectionContext } from './protocol-server.ts'
import { unsavedMessage } from './save-status.ts'
import type { UpdateGate } from './update-gate.ts'

type EditorConnection = Connection<ConnectionContext>

/** A sync message of an editor. `type` is that of y-protocols. `opened` is undefined when the document was unloaded. */
type SyncMessage = {
  opened: OpenDocument | undefined
  type: number
  payload: Uint8Array
  updates: UpdateGate
  metrics: CollabMetrics
}

/**
 * Checks a sync message of an editor before Hocuspocus handles it, and announces its update to the document. Closes the
 * socket and throws when the message is malformed, when there is no room for its text, when it is too much work for the
 * user, or when the document is gone.
 */
export async function checkSync(connection: EditorConnection, message: SyncMessage): Promise<void> {
  const { opened, type, payload, updates, metrics } = message
  if (opened === undefined) {
    connection.context.socket.close(...reset)
    throw new SilentError()
  }
  if (type === messageYjsSyncStep1) return refuseOtherDerivation(connection, { stateVector: payload, metrics })
  if (type !== messageYjsSyncStep2 && type !== messageYjsUpdate) refuse(connection, metrics)
  // An editor that comes back learns whether its text is stored, after it has learned that its text has arrived.
  if (type === messageYjsSyncStep2) setImmediate(() => opened.greet(connection))
  if (connection.readOnly) return
  const reason = opened.fullFor(payload.byteLength, connection.context.editor.userId)
  if (reason !== null) {
    connection.sendStateless(unsavedMessage(reason))
    sendAway(connection, metrics)
  }
  const update = await opened.holding(() => admitted(connection, { payload, updates, metrics }))
  if (connection.context.socket.isClosing || opened.isClosed) throw new SilentError()
  opened.announce(update, connection)
}

// An editor can bring a Y document that the service no longer has, for instance since a backup was put back. Merged
// with the document of the service, it would bring every block twice.
function refuseOtherDerivation(
  connection: EditorConnection,
  { stateVector, metrics }: { stateVector: Uint8Array; metrics: CollabMetrics },
): void {
  const vector = readStateVector(stateVector) ?? refuse(connection, metrics)
  if (!hasOtherDerivation(connection.document, vector)) return
  closeConnection(connection, 'document_replaced')
  throw new SilentError()
}

// An editor that connects anew sends everything that is missing in one update, which may be right then. Hocuspocus
// would answer an update that Yjs cannot read as if it had been applied.
async function admitted(
  connection: EditorConnection,
  { payload, updates, metrics }: Pick<SyncMessage, 'payload' | 'updates' | 'metrics'>,
): Promise<ClientUpdate> {
  const update = await updates.admit(connection, payload).catch((error: unknown) => {
    if (error instanceof RefusedUpdate) refuse(connection, metrics)
    // After another error Hocuspocus would leave the socket open, and the provider would not connect again.
    connection.context.socket.close(...tryAgainLater)
    throw error
  })
  return update ?? sendAway(connection, metrics)
}

function readStateVector(bytes: Uint8Array): Map<number, number> | null {
  try {
    return decodeStateVector(bytes)
  } catch {
    return null
  }
}

function refuse(connection: EditorConnection, metrics: CollabMetrics): never {
  metrics.cut('malformed')
  connection.context.socket.close(...reset)
  throw new SilentError()
}

function sendAway(connection: EditorConnection, metrics: CollabMetrics): never {
  metrics.cut('overloaded')
  connection.context.socket.close(...tryAgainLater)
  throw new SilentError()
}
