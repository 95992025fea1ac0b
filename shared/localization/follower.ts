import type { DocumentFollower } from '../body/follower.ts'
import type { DeletionFollower } from '../documents/deletion.ts'
import type { DocumentRow } from '../documents/queries.ts'
import { type Actor, recordAudit } from './audit.ts'
import { deleteEmptySets, lockSets, type SetRow } from './queries.ts'
import { syncUnits } from './units/sync.ts'

/** Brings translation units in line with every write to a source or translation. */
export const localizationFollower: DocumentFollower = {
  bodyChanged: syncUnits,
}

/**
 * Follows deletions by one actor. A set whose last member was deleted is deleted with its audit. The audit of every
 * other set records the deleted translations, whether they were deleted alone or with a folder or knowledge base.
 */
export function localizationDeletions(actor: Actor): DeletionFollower {
  return {
    async documentsDeleted(tx, { workspaceId, documents }) {
      const setIds = [...new Set(documents.flatMap(({ document_set_id: id }) => id ?? []))]
      if (setIds.length === 0) return
      const sets = await lockSets(tx, { workspaceId, setIds })
      const emptied = await deleteEmptySets(tx, { workspaceId, setIds })
      const kept = sets.filter(({ id }) => !emptied.includes(id))
      await recordAudit(tx, { workspaceId, actor, entries: kept.flatMap((set) => entriesOf(set, documents)) })
    },
  }
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
