import { versionConflict } from '../shared/body/conflict.ts'
import { bodyText } from '../shared/body/queries.ts'
import { StoredBody } from '../shared/body/stored-body.ts'
import { changedBlockIds } from '../shared/changes/read.ts'
import type { Queryable } from '../shared/database.ts'
import type { DocumentRow } from '../shared/documents/queries.ts'
import { Refusal } from '../shared/errors.ts'
import { type Guard, satisfies } from './preconditions.ts'

/**
 * Makes the guard of a body write for `commitBody`: 428 when a required If-Match is missing, 409 when none of its tags
 * is the current version. A write to one block is guarded by the hash of that block as well.
 */
export function bodyGuard(input: { db: Queryable; guard: Guard | null; required: boolean }) {
  return async (current: StoredBody, document: DocumentRow, blockHash?: string): Promise<void> => {
    const { guard } = input
    if (guard === null) {
      if (input.required) throw new Refusal('precondition_required', { details: { missing: ['If-Match'] } })
      return
    }
    if (satisfies(guard, current.version, ...(blockHash === undefined ? [] : [blockHash]))) return
    throw await conflict(input.db, { document, current, guard })
  }
}

/** As `bodyGuard` for a write to a document's metadata: optional, and the body is only read for the conflict. */
export function requireBodyVersion(input: { tx: Queryable; guard: Guard | null }) {
  return async (document: DocumentRow): Promise<void> => {
    const { guard, tx } = input
    if (guard === null || satisfies(guard, document.version)) return
    const current = new StoredBody({ version: document.version, text: await bodyText(tx, document) })
    throw await conflict(tx, { document, current, guard })
  }
}

function conflict(db: Queryable, input: { document: DocumentRow; current: StoredBody; guard: Guard }) {
  const { document, current, guard } = input
  const changedSince = (versions: readonly string[]) => changedBlockIds(db, { body: document, versions })
  return versionConflict(db, { document, current, provided: guard === '*' ? [] : guard, changedSince })
}
