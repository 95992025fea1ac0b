import type { Caller } from '../auth/caller.ts'
import type { Queryable } from '../database/database.ts'
import type { DocumentRow } from '../documents/queries.ts'
import { Refusal } from '../errors/errors.ts'
import { type Committed, commitBody, type Edited } from './commit.ts'
import type { CommitContext } from './consequence.ts'
import { type SnapshotBody, snapshotBody } from './queries.ts'
import type { StoredBody } from './stored-body.ts'

/**
 * The body of a kept version of a visible document. `seq` is the number of the version in digits. Refuses with 404
 * `version_not_found`.
 */
export async function requireVersion(
  db: Queryable,
  named: { document: DocumentRow; seq: string },
): Promise<SnapshotBody> {
  const seq = Number(named.seq)
  const kept = Number.isSafeInteger(seq) ? await snapshotBody(db, { ...named.document, seq }) : null
  if (kept === null) throw new Refusal('version_not_found', { details: { id: named.seq } })
  return kept
}

/** Checks the caller's precondition. Refuses with 428 when it is missing, and with 409 when the body has changed. */
type VersionCheck = (current: StoredBody, document: DocumentRow) => Promise<void> | void

/**
 * Brings back a kept version of a body, in the caller's transaction. The current body is kept as a version first.
 * Refuses with 404 `version_not_found`, and in all cases in which `commitBody` refuses.
 */
export function restoreVersion(
  context: CommitContext,
  restoring: { documentId: string; caller: Caller; seq: string; guard: VersionCheck },
): Promise<Committed<Edited>> {
  const { documentId, caller, seq, guard } = restoring
  return commitBody<Edited, string>(context, {
    documentId,
    caller,
    // The snapshot must be read before the commit. The commit keeps one more snapshot and may delete the oldest
    // snapshot, which can be the snapshot to restore.
    find: async (_current, document) => (await requireVersion(context.tx, { document, seq })).body,
    guard,
    edit: (_current, text) => ({ text }),
  })
}
