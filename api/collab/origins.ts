import { isTransactionOrigin, type LocalTransactionOrigin } from '@hocuspocus/server'
import type { Editor } from './editor.ts'

/**
 * Where an update of a live document comes from: `typed` from a connection of this process, `stored` from the
 * database, `peer` from another process, `rescue` from the server, which has put typed text back.
 */
export type OriginKind = 'typed' | 'peer' | OwnKind

type OwnKind = 'stored' | 'rescue'

/** The origin of an update that this process itself makes or takes from the database. */
export function ownOrigin(kind: OwnKind): LocalTransactionOrigin {
  return ownOrigins[kind]
}

const ownOrigins = {
  stored: { source: 'local', skipStoreHooks: true, context: { kind: 'stored' } },
  rescue: { source: 'local', skipStoreHooks: true, context: { kind: 'rescue' } },
} as const

/** The kind of an update's origin, and the editor who typed. An update without a known origin counts as a rescue. */
export function originOf(origin: unknown): { kind: OriginKind; editor: Editor | null } {
  if (!isTransactionOrigin(origin)) return { kind: 'rescue', editor: null }
  if (origin.source === 'connection') return { kind: 'typed', editor: origin.connection.context.editor }
  if (origin.source === 'local') return { kind: origin.context?.kind ?? 'rescue', editor: null }
  return { kind: 'rescue', editor: null }
}
