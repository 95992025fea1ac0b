import type { Response } from 'express'
import type { Caller } from '../../../shared/auth/caller.ts'
import { writeExport } from '../../../shared/export/export.ts'
import { findKnowledgeBase } from '../../../shared/knowledge-bases/lifecycle.ts'
import { presentDocuments } from '../../../shared/localization/present.ts'
import { sendArchive } from '../../http/exports.ts'
import { KnowledgeBaseParameter } from '../../http/parameters.ts'
import { type Route, route } from '../../http/route.ts'
import type { Service } from '../../http/service.ts'

/** The route that exports a knowledge base. `shared/export/README.md` describes the archive. */
export const exportRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/knowledge-bases/{id}/export',
    operationId: 'exportKnowledgeBase',
    tag: 'Knowledge bases',
    summary: 'Download a knowledge base as a zip',
    description: [
      'Folders, documents and attachments as they are at one moment, however long the download takes:',
      '`documents/<id>.json` holds each body as tiptap-json, `markdown/<folder>/<title>--<id>.md` the same with block',
      'anchors, `attachments/<id>/<filename>` the files, and `manifest.json`, the last entry, what there is and where.',
      'Names are made safe for every file system, so paths are to be taken from the manifest. Files are included only',
      'for a token that also has `attachments:read`; their `path` is null otherwise, and for one deleted meanwhile.',
      'The size is not known beforehand, and a connection that breaks leaves no valid zip. A reader that pauses for a',
      'minute is cut off.',
    ].join(' '),
    scopes: ['knowledge-bases:read', 'documents:read'],
    bucket: 'job',
    params: KnowledgeBaseParameter,
    success: { status: 200, description: 'The archive', data: null, media: 'application/zip' },
    errors: [],
    handle: async ({ caller, db, params, service }) => {
      await findKnowledgeBase(db, { caller, id: params.id })
      return {
        headers: { 'Content-Disposition': exportDisposition(params.id) },
        write: (response) => sendExport(service, { caller, id: params.id, response }),
      }
    },
  }),
]

/** The header by which browsers save the archive of a knowledge base under its name. */
export function exportDisposition(knowledgeBaseId: number): string {
  return `attachment; filename="knowledge-base-${knowledgeBaseId}.zip"`
}

/** Sends the archive of a knowledge base. The archive has the files of attachments only if the caller may read them. */
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
    // The answer becomes an error instead of an archive, so the headers that describe the archive are removed.
    if (!response.headersSent) for (const name of ['Content-Disposition', 'Content-Type']) response.removeHeader(name)
    throw error
  }
}
