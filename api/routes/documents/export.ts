import { findKnowledgeBase } from '../../../shared/knowledge-bases/lifecycle.ts'
import { KnowledgeBaseParameter } from '../../http/parameters.ts'
import { type Route, route } from '../../http/route.ts'
import { sendExport } from './send-export.ts'

/** The export of a knowledge base (specification 4.7, decisions 4.7). */
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
        headers: { 'Content-Disposition': `attachment; filename="knowledge-base-${params.id}.zip"` },
        write: (response) => sendExport(service, { caller, id: params.id, response }),
      }
    },
  }),
]
