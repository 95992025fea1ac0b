import type { IncomingMessage } from 'node:http'
import { type Document, Hocuspocus } from '@hocuspocus/server'
import type { ClientSocket } from './client-socket.ts'
import { tryAgainLater } from './closing.ts'
import { Denial } from './denial.ts'
import type { EditorContext } from './editor.ts'

/** What the process keeps with each connection. */
export type ConnectionContext = EditorContext & { socket: ClientSocket; origin: string | null }

/**
 * Hocuspocus without its own way of storing documents. Every client that waits for a document learns when loading it
 * has failed. The two methods are public but not documented: if a release renames one or moves the context among the
 * parameters, `override` and the type of `sendingBack` no longer compile.
 */
export class ProtocolServer extends Hocuspocus<ConnectionContext> {
  override async storeDocumentHooks(): Promise<void> {}

  override createDocument(
    ...parameters: Parameters<Hocuspocus<ConnectionContext>['createDocument']>
  ): Promise<Document> {
    const context = parameters[4]
    return sendingBack(context, () => super.createDocument(...parameters))
  }
}

/**
 * Does `work` for a client. When the process cannot serve the client at the moment, the socket is closed, because a
 * provider tries again after that and not after a denial.
 */
export async function sendingBack<T>(context: ConnectionContext | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Denial && error.reason === 'service_unavailable') context?.socket.close(...tryAgainLater)
    throw error
  }
}

/** A request in the form of the Fetch standard, in which Hocuspocus asks for headers and address. */
export function webRequest(request: IncomingMessage): Request {
  const headers = new Headers()
  for (const [name, value] of Object.entries(request.headers)) {
    for (const one of [value ?? []].flat()) headers.append(name, one)
  }
  return new Request(new URL(request.url ?? '/', 'http://localhost'), { headers })
}
