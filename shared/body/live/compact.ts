import type { Transaction } from '../../database/database.ts'
import { lockDocuments } from '../../documents/queries.ts'
import * as queries from './queries.ts'
import { foldFollower, loadFollower } from './stored-follower.ts'

/**
 * Folds the log of a document into its Y state, for a process that closes it; a log that grows long meanwhile is folded
 * by whoever appends to it. Deleted text is forgotten, nothing else changes: a replica that has seen less than was
 * folded gets the whole state next time. Does nothing when the document is gone or was never opened live.
 */
export async function compactLive(tx: Transaction, key: queries.DocumentKey): Promise<void> {
  const [document] = await lockDocuments(tx, { workspaceId: key.workspace_id, documentIds: [key.id] })
  const head = document === undefined ? null : await queries.liveHead(tx, key)
  if (head === null || head.n === head.folded_n) return
  await foldFollower(tx, { follower: await loadFollower(tx, key), key })
}
