import type { DocumentFollower } from '../documents/followers.ts'
import { deleteEmptySets, lockSets } from './queries.ts'
import { followBody } from './units/follow.ts'

/**
 * What writes mean to localization: units follow the bodies of both sides, and the last member of a set takes the set
 * and its audit along (decisions 4.15).
 */
export const localizationFollower: DocumentFollower = {
  bodyChanged: (tx, { document, difference }) => followBody(tx, { document, step: difference }),
  async documentsDeleted(tx, { workspaceId, documents }) {
    const setIds = [...new Set(documents.flatMap(({ document_set_id: id }) => id ?? []))]
    if (setIds.length === 0) return
    await lockSets(tx, { workspaceId, setIds })
    await deleteEmptySets(tx, { workspaceId, setIds })
  },
}
