import { versionConflict } from '../../../shared/body/conflict.ts'
import { bodyText } from '../../../shared/body/queries.ts'
import { StoredBody } from '../../../shared/body/stored-body.ts'
import { changedBlockIds } from '../../../shared/changes/read.ts'
import type { Queryable } from '../../../shared/database/database.ts'
import type { DocumentRow } from '../../../shared/documents/queries.ts'
import { Refusal } from '../../../shared/errors/errors.ts'
import { type Guard, satisfies } from '../../http/preconditions.ts'

type GuardInput = { db: Queryable; guard: Guard | null; required: boolean }

/**
 * Makes the guard of a body write for `commitBody`: 428 when a required If-Match is missing, 409 when none of its tags
 * is the current version.
 */
export function bodyGuard(input: GuardInput) {
  return (current: StoredBody, document: DocumentRow): Promise<void> => hold(input, { current, document })
}

/** As `bodyGuard` for a write to one block: the hash of the block, which the commit finds, satisfies the guard as well. */
export function blockGuard(input: GuardInput) {
  return (current: StoredBody, document: DocumentRow, blockHash: string): Promise<void> =>
    hold(input, { current, document, blockHash })
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

type Held = { current: StoredBody; document: DocumentRow; blockHash?: string }

async function hold({ db, guard, required }: GuardInput, held: Held): Promise<void> {
  if (guard === null) {
    if (required) throw new Refusal('precondition_required', { details: { missing: ['If-Match'] } })
    return
  }
  const { current, blockHash } = held
  if (satisfies(guard, current.version, ...(blockHash === undefined ? [] : [blockHash]))) return
  throw await conflict(db, { ...held, guard })
}

function conflict(db: Queryable, input: Held & { guard: Guard }): Promise<Refusal> {
  const { guard, ...held } = input
  const changedSince = (versions: readonly string[]) => changedBlockIds(db, { body: held.document, versions })
  return versionConflict(db, { ...held, provided: guard === '*' ? [] : guard, changedSince })
}
