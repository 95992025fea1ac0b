import { deleteDocument } from '../../../shared/documents/deletion.ts'
import { findWritableFolder } from '../../../shared/knowledge-bases/folders.ts'
import { findWritableKnowledgeBase } from '../../../shared/knowledge-bases/lifecycle.ts'
import { deleteFolder, deleteKnowledgeBase } from '../../../shared/structure/deletion.ts'
import type { WriteContext } from '../../http/write-context.ts'
import { type AccountCall, accountPage } from '../account-page.ts'
import { FormRefusal } from '../form-refusal.ts'
import { pageWrite, recordPageWrite } from '../page-writes.ts'
import { view } from '../render.ts'
import { type Item, itemPaths, parentPath, requireItem } from './items.ts'
import { problemOf } from './problems.ts'

const deleteView = view<{
  csrfToken: string
  item: Item
  /** How many days the trash keeps what is deleted; 0 when there is no trash. */
  days: number
  problem: string | null
}>('delete')

/** Asks before a document, folder or knowledge base goes into the trash. A knowledge base has to be named again. */
export const deletePages = itemPaths.map((path) =>
  accountPage({
    path: `${path}/delete`,
    async get(call) {
      return { html: show(call, { item: await requireItem(call), problem: null }) }
    },
    async post(call) {
      const item = await requireItem(call)
      const { submitted } = call
      if (item.kind === 'base' && submitted.field('name').trim() !== item.name) {
        const problem = 'That is not the name of this knowledge base.'
        return { status: 400, html: show(call, { item, problem }) }
      }
      try {
        await pageWrite(call, (write) => deleteItem(call, { write, item, version: submitted.field('version') }))
      } catch (error) {
        const { status, message } = problemOf(error)
        return { status, html: show(call, { item: await requireItem(call), problem: message }) }
      }
      return { location: item.kind === 'base' ? '/trash' : `${parentPath(item)}?deleted=${item.id}` }
    },
  }),
)

function show(call: AccountCall, { item, problem }: { item: Item; problem: string | null }): string {
  const { account, csrfToken, service } = call
  const days = service.config.TRASH_RETENTION_DAYS
  return deleteView({ title: `Delete ${item.name}`, account, csrfToken, item, days, problem })
}

type Deleting = { write: WriteContext; item: Item; version: string }

async function deleteItem(call: AccountCall, { write, item, version }: Deleting): Promise<void> {
  const { tx, caller } = write
  if (item.kind === 'document') {
    const guard = async (document: { version: string }) => {
      if (document.version !== version) throw new FormRefusal('version_conflict', changedMeanwhile)
    }
    await deleteDocument(write, { documentId: item.id, guard })
    await recordPageWrite(tx, { call, action: 'deleteDocument', documentIds: [item.id] })
  } else if (item.kind === 'folder') {
    const folder = await findWritableFolder(tx, { caller, id: Number(item.id) })
    await deleteFolder(write, folder)
    await recordPageWrite(tx, { call, action: 'deleteFolder', place: { workspaceId: folder.workspace_id } })
  } else {
    const key = await findWritableKnowledgeBase(tx, { caller, id: Number(item.id) })
    await deleteKnowledgeBase(write, key)
    await recordPageWrite(tx, { call, action: 'deleteKnowledgeBase', place: { workspaceId: key.workspaceId } })
  }
}

const changedMeanwhile =
  'Somebody has changed the document since you opened this page. Look at it before you delete it.'
