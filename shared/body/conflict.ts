import type { Ahead } from '../computations/ahead.ts'
import type { Queryable } from '../database/database.ts'
import type { DocumentRow } from '../documents/queries.ts'
import { Refusal } from '../errors/errors.ts'
import { findingChangedBlocks } from './change.ts'
import { keptBodyOfVersion } from './queries.ts'
import type { StoredBody } from './stored-body.ts'

/** Tells which top-level blocks, at most 100, have changed since the newest of some versions; null when it knows none. */
export type ChangedSince = (versions: readonly string[]) => Promise<readonly string[] | null>

/**
 * The 409 of a stale version of a body. While a provided version is known to the document's history, or still kept
 * itself, `changed_block_ids` names the top-level blocks that were added, changed, moved or removed since, at most 100,
 * so that the caller can retry without reading the whole body again (decisions 2.0). Of several provided versions it is
 * the newest that counts. A guard that may be the hash of a block is told the present hash as `current_hash`.
 */
export async function versionConflict(
  context: Context,
  input: {
    document: DocumentRow
    current: StoredBody
    provided: readonly string[]
    changedSince: ChangedSince
    field?: string
    /** The present hash of the block that is written, where the guard may name it instead of a version. */
    blockHash?: string
  },
): Promise<Refusal> {
  const { current, provided, blockHash } = input
  const changedIds =
    provided.length === 0 ? null : ((await input.changedSince(provided)) ?? (await keptSince(context, input)))
  // What is known to be a version is no hash, but a list may hold both.
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
