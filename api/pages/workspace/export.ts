import { exportDisposition, sendExport } from '../../routes/documents/export.ts'
import { accountPage } from '../account-page.ts'
import { requireFolder } from './folders.ts'

/** The zip of a knowledge base that the API sends, too (shared/export/README.md). */
export const exportPage = accountPage({
  path: '/kb/{knowledgeBaseId}/export',
  bucket: () => 'job',
  async get(call) {
    const { service, request, response, caller } = call
    const { knowledgeBaseId: id } = (await requireFolder(call)).address
    response.set({ 'Content-Disposition': exportDisposition(id), 'Content-Type': 'application/zip' })
    if (request.method === 'HEAD') response.end()
    else await sendExport(service, { caller, id, response })
    return undefined
  },
})
