import { versionConflict } from '../../../shared/body/conflict.ts'
import { bodyText } from '../../../shared/body/queries.ts'
import { StoredBody } from '../../../shared/body/stored-body.ts'
import { changedBlockIds } from '../../../shared/changes/read.ts'
import type { Ahead } from '../../../shared/computations/ahead.ts'
import type { Queryable } from '../../../shared/database/database.ts'
import type { DocumentRow } from '../../../shared/documents/queries.ts'
import { Refusal } from '../../../shared/errors/errors.ts'
import { type EntityTags, type Guard, satisfies } from '../../http/preconditions.ts'

type GuardedCall = { tx: Queryable; ahead: Ahead; guard: Guard }

/**
 * Makes the guard of a body write for `commitBody`. The guard refuses with 428 when a required If-Match is missing, and
 * with 409 when none of the tags is the current version.
 */
export function bodyGuard(call: GuardedCall) {
  return (current: StoredBody, document: DocumentRow): Promise<void> => hold(call, { current, document })
}

/**
 * Makes the guard of a write to one block for `commitBody`. If-Match may name the current version of the body or the
 * current hash of the block, which `commitBody` passes in. The guard refuses with 428 when a required If-Match is
 * missing. It refuses with 409 when no tag is the version or the hash.
 */
export function blockGuard(call: GuardedCall) {
  return (current: StoredBody, document: DocumentRow, blockHash: string): Promise<void> =>
    hold(call, { current, document, blockHash })
}

/**
 * Makes the guard of a write to a document's metadata. The guard refuses with 409 when If-Match is sent and none of its
 * tags is the current version of the body. The body itself is read only for the details of a conflict.
 */
export function requireBodyVersion(call: GuardedCall) {
  return async (document: DocumentRow): Promise<void> => {
    const { tx, guard } = call
    const { tags } = guard
    if (tags === null || satisfies(tags, document.version)) return
    const current = new StoredBody({ version: document.version, text: await bodyText(tx, document) })
    throw await conflict({ ...call, tags }, { document, current })
  }
}

type Held = { current: StoredBody; document: DocumentRow; blockHash?: string }

async function hold(call: GuardedCall, held: Held): Promise<void> {
  const { required, tags } = call.guard
  if (tags === null) {
    if (required) throw new Refusal('precondition_required', { details: { missing: ['If-Match'] } })
    return
  }
  const { current, blockHash } = held
  if (satisfies(tags, current.version, ...(blockHash === undefined ? [] : [blockHash]))) return
  throw await conflict({ ...call, tags }, held)
}

function conflict({ tx, ahead, tags }: GuardedCall & { tags: EntityTags }, held: Held): Promise<Refusal> {
  const changedSince = (versions: readonly string[]) => changedBlockIds(tx, { body: held.document, versions })
  return versionConflict({ db: tx, ahead }, { ...held, provided: tags === '*' ? [] : tags, changedSince })
}
