import type { DocumentFollower } from '../documents/followers.ts'
import { deleteEmptySets, lockSets } from './queries.ts'

/** What deletions mean to document sets: the last member takes its set and the audit along (decisions 4.15). */
export const localizationFollower: DocumentFollower = {
  async documentsDeleted(tx, { workspaceId, documents }) {
    const setIds = [...new Set(documents.flatMap(({ document_set_id: id }) => id ?? []))]
    if (setIds.length === 0) return
    await lockSets(tx, { workspaceId, setIds })
    await deleteEmptySets(tx, { workspaceId, setIds })
  },
}
