import type { Response } from 'express'
import type { Caller } from '../../../shared/auth/caller.ts'
import { writeExport } from '../../../shared/export/export.ts'
import { findKnowledgeBase } from '../../../shared/knowledge-bases/lifecycle.ts'
import { presentDocuments } from '../../../shared/localization/present.ts'
import { sendArchive } from '../../http/send-archive.ts'
import type { Service } from '../../http/service.ts'

/** Answers with the archive of a knowledge base, with the files of attachments if the caller may read those. */
export async function sendExport(
  service: Service,
  { caller, id, response }: { caller: Caller; id: number; response: Response },
): Promise<void> {
  const files = caller.scopes.includes('attachments:read') ? service.files : null
  try {
    await service.exports.run(async (snapshot) => {
      const knowledgeBase = await findKnowledgeBase(snapshot, { caller, id })
      await sendArchive(response, service.exports.patience, (archive) =>
        writeExport({ snapshot, archive, files, log: service.log, present: presentDocuments }, knowledgeBase),
      )
    })
  } catch (error) {
    // What is answered instead is no archive.
    if (!response.headersSent) for (const name of ['Content-Disposition', 'Content-Type']) response.removeHeader(name)
    throw error
  }
}
