import { isTransactionOrigin, type LocalTransactionOrigin } from '@hocuspocus/server'
import type { EditorConnection } from './editor.ts'

/**
 * Where an update of a live document comes from. `typed` is from a connection of this process, `stored` from the
 * database, and `peer` from another process. `rescue` is from this process itself, which has put typed text back.
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

/**
 * The kind of an update's origin, and the connection whose editor typed. An update without a known origin, such as
 * those that Yjs makes when it cleans up, counts as a rescue.
 */
export function originOf(origin: unknown): { kind: OriginKind; connection: EditorConnection | null } {
  if (!isTransactionOrigin(origin)) return { kind: 'rescue', connection: null }
  if (origin.source === 'connection') return { kind: 'typed', connection: origin.connection }
  if (origin.source === 'local') return { kind: origin.context?.kind ?? 'rescue', connection: null }
  return { kind: 'rescue', connection: null }
}
