import { updateDocument } from '../../../shared/documents/update.ts'
import { updateFolder } from '../../../shared/structure/folders.ts'
import { type AccountFormCall, accountPage } from '../account-page.ts'
import type { PageAnswer } from '../page.ts'
import { pageWrite, recordPageWrite } from '../page-writes.ts'
import { addressOf, folderPaths, idOf, pathOf } from './addresses.ts'

/** Puts a folder or document before or after another of its kind, in the knowledge base or folder that has both. */
export const orderPages = folderPaths.map((path) =>
  accountPage({ path: `${path}/order`, get: async (call) => ({ location: pathOf(addressOf(call)) }), post: arrange }),
)

// The form has `kind` and `item`, one of `before` and `after` with the id of a neighbour, and `cursor`, the page of the
// list on which the person is.
async function arrange(call: AccountFormCall): Promise<PageAnswer> {
  const { field } = call.submitted
  const [kind, item, before, after, cursor] = ['kind', 'item', 'before', 'after', 'cursor'].map(field)
  const position = before ? { before } : { after: after ?? '' }
  await pageWrite(call, async (write) => {
    const { tx, caller } = write
    const folderId = kind === 'folder' ? idOf(item) : null
    if (folderId === null) {
      const update = { documentId: item ?? '', caller, metadata: { position }, guard: async () => {} }
      const document = await updateDocument(write, update)
      recordPageWrite(tx, { call, action: 'updateDocument', documentIds: [document.id] })
    } else {
      await updateFolder(write, { id: folderId, update: { position } })
      recordPageWrite(tx, { call, action: 'updateFolder', place: { folderId } })
    }
  })
  const query = new URLSearchParams({
    arrange: '',
    moved: `${item} ${before ? 'up' : 'down'}`,
    ...(cursor && { cursor }),
  })
  return { location: `${pathOf(addressOf(call))}?${query}#item-${encodeURIComponent(item ?? '')}` }
}
