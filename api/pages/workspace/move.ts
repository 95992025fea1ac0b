import { updateDocument } from '../../../shared/documents/update.ts'
import { updateFolder } from '../../../shared/structure/folders.ts'
import { type AccountCall, accountPage } from '../account-page.ts'
import { pageWrite, recordPageWrite } from '../page-writes.ts'
import { view } from '../render.ts'
import { type FolderAddress, pathOf } from './addresses.ts'
import { destinationIn, destinationOf, destinationStep, moveProblemOf, type Step } from './destinations.ts'
import { type Item, itemPaths, requireItem } from './items.ts'
import type { Problem } from './problems.ts'

const moveView = view<{ csrfToken: string; item: Item; step: Step; problem: string | null }>('move')

/** Moves a document or folder to where the person walks. */
export const movePages = itemPaths.slice(0, 2).map((path) =>
  accountPage({
    path: `${path}/move`,
    async get(call) {
      const item = await requireItem(call)
      return { html: await show(call, { item, destination: destinationOf(call.query, item.parent), problem: null }) }
    },
    async post(call) {
      const item = await requireItem(call)
      const { submitted } = call
      const destination = destinationIn(submitted)
      const refuse = async ({ status, message }: Problem) => ({
        status,
        html: await show(call, { item, destination, problem: message }),
      })
      const moved = pageWrite(call, async (write) => {
        const { tx, caller } = write
        const { knowledgeBaseId: knowledge_base_id, folderId } = destination
        if (item.kind === 'document') {
          const metadata = { knowledge_base_id, folder_id: folderId }
          await updateDocument(write, { documentId: item.id, caller, metadata, guard: async () => {} })
          await recordPageWrite(tx, { call, action: 'updateDocument', documentIds: [item.id] })
        } else {
          const folderOf = Number(item.id)
          await updateFolder(write, { id: folderOf, update: { knowledge_base_id, parent_id: folderId } })
          await recordPageWrite(tx, { call, action: 'updateFolder', place: { folderId: folderOf } })
        }
        return { location: `${pathOf(destination)}#item-${item.id}` }
      })
      return moved.catch((error: unknown) => refuse(moveProblemOf(error)))
    },
  }),
)

async function show(
  call: AccountCall,
  shown: { item: Item; destination: FolderAddress | null; problem: string | null },
): Promise<string> {
  const { item, destination, problem } = shown
  const { account, csrfToken } = call
  const { workspaceId, parent } = item
  const folderId = item.kind === 'folder' ? Number(item.id) : null
  const step = await destinationStep(call, { moving: { workspaceId, parent, folderId, kept: '' }, destination })
  return moveView({ title: `Move ${item.name}`, account, csrfToken, item, step, problem })
}
