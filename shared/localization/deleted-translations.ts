import type { Deletion, DeletionContext } from '../documents/deletion.ts'
import type { DocumentRow } from '../documents/queries.ts'
import { actorOf, recordAudit } from './audit.ts'
import { deleteEmptySets, lockSets, type SetRow } from './queries.ts'

/**
 * A consequence of deletions. A set without members is deleted with its audit, unless one of its members is in the
 * trash. The audit of every other set records the deleted translations, whether they were deleted alone or with a
 * folder or knowledge base.
 */
export async function updateSetsOfDeleted(context: DeletionContext, deletion: Deletion): Promise<void> {
  const { tx, caller, client } = context
  const { workspaceId, documents } = deletion
  const setIds = [...new Set(documents.flatMap(({ document_set_id: id }) => id ?? []))]
  if (setIds.length === 0) return
  const sets = await lockSets(tx, { workspaceId, setIds })
  const emptied = await deleteEmptySets(tx, { workspaceId, setIds })
  const kept = sets.filter(({ id }) => !emptied.includes(id))
  const entries = kept.flatMap((set) => entriesOf(set, documents))
  await recordAudit(tx, { workspaceId, actor: actorOf(caller, client), entries })
}

function entriesOf(set: SetRow, documents: readonly DocumentRow[]) {
  return documents
    .filter(({ document_set_id, variant_role }) => document_set_id === set.id && variant_role === 'translation')
    .map(({ id, locale }) => ({
      action: 'translation.deleted' as const,
      document_set_id: set.id,
      source_document_id: set.source_document_id,
      target_document_id: id,
      locale,
    }))
}
