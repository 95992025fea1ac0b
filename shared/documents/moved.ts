import type { Transaction } from '../database/database.ts'
import { recordEvents } from '../events/record.ts'
import { documentsChanged } from '../jobs/projections/changed.ts'
import type { Jobs } from '../jobs/queues.ts'
import { eventDocument } from './present.ts'
import { lockDocuments } from './queries.ts'

/**
 * To be called after documents went to another knowledge base together with their folder: records an event for each
 * and lets their projections follow.
 */
export async function documentsMoved(
  context: { tx: Transaction; jobs: Jobs },
  input: { workspaceId: string; documentIds: readonly string[] },
): Promise<void> {
  const rows = await lockDocuments(context.tx, input)
  const rowNos = await recordEvents(context.tx, {
    workspaceId: input.workspaceId,
    name: 'document.metadata.updated',
    documents: rows.map(eventDocument),
  })
  await documentsChanged(context, {
    workspaceId: input.workspaceId,
    changes: ['location'],
    documents: rows.map(({ id }, index) => ({ id, eventRowNo: rowNos[index] ?? 0, quiet: true })),
  })
}
