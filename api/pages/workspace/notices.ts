import { visibleWorkspaces } from '../../../shared/auth/caller.ts'
import { trashPage } from '../../../shared/trash/list.ts'
import type { AccountCall } from '../account-page.ts'
import { type FolderAddress, idIn } from './addresses.ts'

/** What a person did on the page before: what was deleted and its entry in the trash, or how much was uploaded. */
export type Notice =
  | { deleted: { name: string; entryId: string } }
  | { uploaded: number }
  | { deletedDocuments: number }

// How many of the newest entries of the trash may hold what was deleted a moment ago.
const newestEntries = 20

/** Returns the notice that the query of a page asks for; null without such a query, and when it is over. */
export async function noticeOf(
  call: AccountCall,
  address: Pick<FolderAddress, 'knowledgeBaseId'>,
): Promise<Notice | null> {
  const { query, service } = call
  const uploaded = Number(query.get('uploaded'))
  if (Number.isInteger(uploaded) && uploaded > 0) return { uploaded }
  const deletedDocuments = idIn(query.get('deleted_documents'))
  if (deletedDocuments !== null) return { deletedDocuments }
  const deleted = query.get('deleted')
  if (deleted === null) return null
  const { caller } = call
  const entries = await trashPage(service.database, {
    workspaceIds: visibleWorkspaces(caller),
    retention: service.config,
    knowledgeBaseId: address.knowledgeBaseId,
    after: null,
    limit: newestEntries,
  })
  const entry = entries.find(({ document_id, folder_id }) => (document_id ?? String(folder_id)) === deleted)
  return entry === undefined ? null : { deleted: { name: entry.name, entryId: entry.id } }
}
