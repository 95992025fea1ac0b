import { createDocument } from '../../../shared/body/create-document.ts'
import { type AccountFormCall, accountPage } from '../account-page.ts'
import type { PageAnswer } from '../page.ts'
import { recordPageWrite } from '../page-writes.ts'
import { writeOnce } from '../write-once.ts'
import { addressOf, folderPaths, pathOf } from './addresses.ts'
import { untitled } from './names.ts'

/** Creates a document in a knowledge base or a folder, and opens it in the editor. */
export const newDocumentPages = folderPaths.map((path) =>
  accountPage({
    path: `${path}/documents`,
    get: async (call) => ({ location: pathOf(addressOf(call)) }),
    post: create,
  }),
)

async function create(call: AccountFormCall): Promise<PageAnswer> {
  const { knowledgeBaseId, folderId } = addressOf(call)
  const location = await writeOnce(call, { form: call.submitted }, async (write) => {
    const { document } = await createDocument(write, {
      caller: write.caller,
      document: { title: untitled, knowledge_base_id: knowledgeBaseId, folder_id: folderId },
      content: () => undefined,
    })
    await recordPageWrite(write.tx, { call, action: 'createDocument', documentIds: [document.id] })
    return `/d/${document.id}`
  })
  return { location }
}
