import type { Caller } from '../../auth/caller.ts'
import type { DocumentRow } from '../../documents/queries.ts'
import { documentToLines } from '../canonical.ts'
import { type CommitContext, commitBody } from '../commit.ts'
import type { Repair } from '../yjs/repair-pass.ts'
import type { LiveUpdates } from './live-document.ts'
import { notifyLive } from './queries.ts'
import { catchUp, loadFollower, storeFollower } from './stored-follower.ts'

/** One flush of a live process. */
export type Flush = {
  documentId: string
  /** Who typed, with the memberships of now: rights may have been taken away since the connection was made. */
  caller: Caller
  /** Yjs updates (encoding v1) from browsers that no flush has stored yet, in order of arrival; may be empty. */
  updates: readonly Uint8Array[]
  /** The row of the log up to which the process has seen what is stored. */
  seen: number
}

/** What a flush did, and what the replica has to apply: writes of the API, of other processes, and repairs. */
export type Flushed = LiveUpdates & { document: DocumentRow; changed: boolean; repairs: Repair[] }

/**
 * Stores what people typed, through the same door as every write: same event, same jobs, no snapshot. Typed text is
 * merged before the document follows the body, so that it goes along when its block was moved meanwhile. What the merge
 * left invalid is repaired. The updates are kept also when they make no difference to the body.
 *
 * Refuses with 404 `document_not_found`, 403 `forbidden`, and with 422 `document_too_large` or `invalid_node` when the
 * text does not fit any more. Nothing is stored then: the process keeps the updates and hands them over again.
 */
export async function persistLive(context: CommitContext, flush: Flush): Promise<Flushed> {
  const { tx } = context
  const { document, edited, changed } = await commitBody(context, {
    documentId: flush.documentId,
    caller: flush.caller,
    snapshot: false,
    find: (_, locked) => locked,
    // Images of attachments that do not exist are let be, as in a rollback: there is nobody to refuse them to.
    edit: async (current, locked) => {
      const follower = await loadFollower(tx, locked)
      follower.merge(flush.updates)
      await catchUp(tx, { follower, document: locked, current: current.text })
      const { body, repairs } = follower.settle(locked.id)
      return { text: documentToLines(body).join('\n'), follower, repairs }
    },
  })
  const { follower, repairs } = edited
  await storeFollower(tx, { follower, document })
  // A changed body is announced by the commit; other processes need also the rest of what was logged.
  if (!changed && follower.appended.length > 0) await notifyLive(tx, document)
  return { document, changed, repairs, n: follower.n, updates: follower.missedSince(flush.seen) }
}
