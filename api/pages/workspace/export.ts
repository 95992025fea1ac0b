import { exportDisposition, sendExport } from '../../routes/documents/export.ts'
import { accountPage } from '../account-page.ts'
import { callerOfSession, inTurnOf } from '../page-writes.ts'
import { requireFolder } from './folders.ts'

/** The zip of a knowledge base that the API sends, too (shared/export/README.md). */
export const exportPage = accountPage({
  path: '/kb/{knowledgeBaseId}/export',
  async get(call) {
    const { service, request, response, user } = call
    const { knowledgeBaseId: id } = (await requireFolder(call)).address
    await service.rateLimiter.consume('job', user.userId)
    const caller = await callerOfSession(call)
    response.set({ 'Content-Disposition': exportDisposition(id), 'Content-Type': 'application/zip' })
    if (request.method === 'HEAD') response.end()
    else await inTurnOf(call, caller, () => sendExport(service, { caller, id, response }))
    return undefined
  },
})
