import { prepared, sql } from '../../database/database.ts'
import type { BodyWrite, CommitContext } from '../consequence.ts'

/**
 * The channel of NOTIFY on which a write tells collab processes that a body or a Y document has changed. The payload is
 * `<document id> <body_seq> <n>`, and ends with ` typed` when all of the change was typed.
 */
export const liveBodiesChannel = 'svc_live_bodies'

/** What a notification says: the body or the Y document of a document has changed. */
export type ChangedBody = {
  documentId: string
  bodySeq: number
  /** The newest row of the log after a flush of a collab process; 0 after any other write. */
  n: number
  /** Whether nothing but typed text of a collab process has changed the body. */
  byTyping: boolean
}

/** Reads the payload of a notification on `liveBodiesChannel`. */
export function readChangedBody(payload: string): ChangedBody {
  const [documentId = '', bodySeq, n, how] = payload.split(' ')
  return { documentId, bodySeq: Number(bodySeq), n: Number(n), byTyping: how === 'typed' }
}

/** The payload that tells collab processes of a change. `documentId` is a document that they may hold open. */
export function notificationOf({ documentId, bodySeq, n, byTyping }: ChangedBody): string {
  return `${documentId} ${bodySeq} ${n}${byTyping ? ' typed' : ''}`
}

/**
 * A consequence of body writes: tells collab processes of the changed body. Nothing is sent for a document that was
 * never opened live, because commits that notify wait for each other in the whole database server.
 */
export async function notifyLiveEditors({ tx }: CommitContext, { document, isLive }: BodyWrite): Promise<void> {
  if (!isLive) return
  const payload = notificationOf({ documentId: document.id, bodySeq: document.body_seq, n: 0, byTyping: false })
  await tx.query(prepared(sql.unsafe`SELECT pg_notify(${liveBodiesChannel}, ${payload})`))
}
