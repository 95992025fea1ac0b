import { createDocument } from '../../../shared/body/create-document.ts'
import { accountPage } from '../account-page.ts'
import { pageWrite, recordPageWrite } from '../page-writes.ts'
import { knowledgeBaseIdOf } from './addresses.ts'
import { untitled } from './names.ts'

/** Creates a document in a knowledge base, or in the folder that the form names, and opens it in the editor. */
export const newDocumentPage = accountPage({
  path: '/kb/{knowledgeBaseId}/documents',
  async get(call) {
    return { location: `/kb/${knowledgeBaseIdOf(call)}` }
  },
  async post(call) {
    const knowledgeBaseId = knowledgeBaseIdOf(call)
    return pageWrite(call, async (write) => {
      const { document } = await createDocument(write, {
        caller: write.caller,
        document: { title: untitled, knowledge_base_id: knowledgeBaseId },
        content: () => undefined,
      })
      recordPageWrite(write.tx, { call, action: 'createDocument', documentIds: [document.id] })
      return { location: `/d/${document.id}` }
    })
  },
})
