import type { Transaction } from '../database/database.ts'
import { eventDocument } from '../documents/present.ts'
import type { DocumentRow } from '../documents/queries.ts'
import { recordEvents } from '../events/record.ts'
import { documentsChanged } from '../jobs/projections/changed.ts'
import type { DocumentChange, Jobs } from '../jobs/queues.ts'

/** Records that the metadata of a member changed, and lets its projections follow; to be called last. */
export async function announceMember(
  context: { tx: Transaction; jobs: Jobs },
  input: { document: DocumentRow; changes: readonly DocumentChange[] },
): Promise<void> {
  const { document, changes } = input
  const workspaceId = document.workspace_id
  const [eventRowNo = 0] = await recordEvents(context.tx, {
    workspaceId,
    name: 'document.metadata.updated',
    documents: [eventDocument(document)],
  })
  await documentsChanged(context, { workspaceId, changes, documents: [{ id: document.id, eventRowNo, quiet: true }] })
}
