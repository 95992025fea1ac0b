import type { Ahead } from '../computations/ahead.ts'
import type { Queryable } from '../database/database.ts'
import type { DocumentRow } from '../documents/queries.ts'
import { Refusal } from '../errors/errors.ts'
import { findingChangedBlocks } from './change.ts'
import { keptBodyOfVersion } from './queries.ts'
import type { StoredBody } from './stored-body.ts'

/**
 * A function that returns the ids of at most 100 top-level blocks that changed since the newest of the given versions.
 * It returns null when it knows none of the versions.
 */
export type ChangedSince = (versions: readonly string[]) => Promise<readonly string[] | null>

/**
 * The 409 `version_conflict` for a stale version of a body. `changed_block_ids` names at most 100 top-level blocks that
 * were added, changed, moved or removed since the provided version. So a caller can retry without another read of the
 * whole body. `changed_block_ids` is absent when neither the history nor a kept body has the provided version. When the
 * request provides several versions, the newest counts. Where the guard may name the hash of a block instead of a
 * version, `current_hash` is the present hash of the block.
 */
export async function versionConflict(
  context: Context,
  input: {
    document: DocumentRow
    current: StoredBody
    provided: readonly string[]
    changedSince: ChangedSince
    field?: string
    /** The present hash of the block to be written, where the guard may name a hash instead of a version. */
    blockHash?: string
  },
): Promise<Refusal> {
  const { current, provided, blockHash } = input
  const changedIds =
    provided.length === 0 ? null : ((await input.changedSince(provided)) ?? (await keptSince(context, input)))
  // A single tag of If-Match that names a known version is no hash of a block. In a list of tags, another tag may still
  // be a hash.
  const mayBeHash = blockHash !== undefined && (changedIds === null || provided.length > 1)
  return new Refusal('version_conflict', {
    details: {
      provided: provided.join(', '),
      current_version: current.version,
      ...(mayBeHash && { current_hash: blockHash }),
      ...(input.field !== undefined && { field: input.field }),
      ...(changedIds !== null && { changed_block_ids: changedIds }),
    },
    headers: { ETag: `"${current.version}"` },
  })
}

type Context = { db: Queryable; ahead: Ahead }

async function keptSince(
  { db, ahead }: Context,
  input: { document: DocumentRow; current: StoredBody; provided: readonly string[] },
): Promise<readonly string[] | null> {
  const kept = await keptBodyOfVersion(db, { ...input.document, versions: input.provided })
  return kept === null ? null : ahead.result(findingChangedBlocks, { from: kept, to: input.current.text })
}
