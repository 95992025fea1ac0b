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
 * The kind of an update's origin, the connection whose editor typed, and the other process that has relayed the update.
 * An update without a known origin, such as those that Yjs makes when it cleans up, counts as a rescue.
 */
export function originOf(origin: unknown): Origin {
  const unknown: Origin = { kind: 'rescue', connection: null, process: null }
  if (!isTransactionOrigin(origin)) return unknown
  if (origin.source === 'connection') return { ...unknown, kind: 'typed', connection: origin.connection }
  if (origin.source !== 'local') return unknown
  const { kind = 'rescue', process = null } = origin.context ?? {}
  return { ...unknown, kind, process }
}

type Origin = { kind: OriginKind; connection: EditorConnection | null; process: string | null }
