import { updateDocument } from '../../../shared/documents/update.ts'
import { Refusal } from '../../../shared/errors/errors.ts'
import { updateFolder } from '../../../shared/structure/folders.ts'
import { type AccountFormCall, accountPage } from '../account-page.ts'
import type { PageAnswer } from '../page.ts'
import { pageWrite, recordPageWrite } from '../page-writes.ts'
import { addressOf, folderPaths, idOf, pathOf } from './addresses.ts'
import { listAgain } from './folder.ts'

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
  const folderId = kind === 'folder' ? idOf(item) : null
  const query = new URLSearchParams({
    arrange: '',
    moved: `${item} ${before ? 'up' : 'down'}`,
    ...(cursor && { cursor }),
  })
  try {
    await pageWrite(call, async (write) => {
      const { tx, caller } = write
      if (folderId === null) {
        const update = { documentId: item ?? '', caller, metadata: { position }, guard: async () => {} }
        const document = await updateDocument(write, update)
        await recordPageWrite(tx, { call, action: 'updateDocument', documentIds: [document.id] })
      } else {
        await updateFolder(write, { id: folderId, update: { position } })
        await recordPageWrite(tx, { call, action: 'updateFolder', place: { folderId } })
      }
    })
  } catch (error) {
    if (!(error instanceof Refusal && [404, 422].includes(error.status))) throw error
    return listAgain({ ...call, query }, { status: error.status, message: arrangedMeanwhile })
  }
  return { location: `${pathOf(addressOf(call))}?${query}#item-${encodeURIComponent(item ?? '')}` }
}

const arrangedMeanwhile =
  'Somebody has moved or deleted one of the two meanwhile, so nothing was moved. This is the list as it is now.'
