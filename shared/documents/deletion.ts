import { type Transaction, withLimitsOf } from '../database/database.ts'
import { recordEvents } from '../events/record.ts'
import { sourcesDeleted } from '../jobs/requested/obsolete.ts'
import type { DeletionFollower } from './followers.ts'
import { eventDocument } from './present.ts'
import { deleteRows, lockDocuments } from './queries.ts'

/**
 * Deletes documents of one workspace with everything that belongs to them (decisions 4.15) and records a
 * `document.deleted` event for each. This is the one mechanism of every deletion, of a document as of a folder or
 * knowledge base: a table whose rows go with a document references `documents` ON DELETE CASCADE, a table whose rows
 * outlive it does not, and what a foreign key cannot say is done by a follower. A knowledge base may hold thousands.
 */
export function deleteDocuments(
  context: { tx: Transaction; followers: readonly DeletionFollower[] },
  input: { workspaceId: string; documentIds: readonly string[] },
): Promise<void> {
  return withLimitsOf(context.tx, 'whole', () => deleteWithinLimits(context, input))
}

async function deleteWithinLimits(
  context: { tx: Transaction; followers: readonly DeletionFollower[] },
  input: { workspaceId: string; documentIds: readonly string[] },
): Promise<void> {
  const rows = await lockDocuments(context.tx, input)
  await recordEvents(context.tx, {
    workspaceId: input.workspaceId,
    name: 'document.deleted',
    documents: rows.map(eventDocument),
  })
  await deleteRows(context.tx, input)
  await sourcesDeleted(context.tx, { workspaceId: input.workspaceId, documents: input.documentIds })
  for (const follower of context.followers) {
    await follower.documentsDeleted(context.tx, { workspaceId: input.workspaceId, documents: rows })
  }
}
