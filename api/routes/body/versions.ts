import Type from 'typebox'
import { versionPage } from '../../../shared/body/queries.ts'
import { BodyWritten, DocumentVersion, RolledBack, VersionContent } from '../../../shared/body/schema.ts'
import { requireVersion, restoreVersion } from '../../../shared/body/versions.ts'
import { requireDocument } from '../../../shared/documents/require.ts'
import { decodeCursor, encodeCursor, pageOf } from '../../http/pagination.ts'
import { DocumentParameter, wholeListLimit, wholeListParameters } from '../../http/parameters.ts'
import { route } from '../../http/route.ts'
import { bodyGuard } from './body-guard.ts'
import { contentAnswerText, contentText } from './body-views.ts'
import { bodyRehearsal } from './differences.ts'
import { bodyHeading, bodyWritten, contentQuery } from './stored-body.ts'

const tag = 'Versions'

const VersionParameter = Type.Object({
  ...DocumentParameter.properties,
  seq: Type.String({
    pattern: '^[1-9][0-9]*$',
    'x-error': 'invalid_request',
    'x-published': { type: 'integer', minimum: 1, description: '`seq` of a kept version' },
  }),
})

/** The routes that list snapshots and restore one of them. See `api/guide/blocks.md#history`. */
export const versionRoutes = [
  route({
    method: 'GET',
    path: '/documents/{id}/versions',
    operationId: 'listVersions',
    tag,
    summary: 'List the kept versions of a document, newest first',
    description: 'Each is the body as it was before a write. The most recent 20 are kept by default.',
    scopes: ['documents:read'],
    params: DocumentParameter,
    query: Type.Object(wholeListParameters),
    success: { status: 200, description: 'Versions', data: DocumentVersion, list: true },
    errors: ['document_not_found', 'invalid_cursor'],
    async handle({ db, caller, params, query, endpoint }) {
      const document = await requireDocument(db, { documentId: params.id, caller })
      const { limit = wholeListLimit, cursor } = query
      const scope = { endpoint, filters: { id: params.id }, sort: 'seq' }
      const before = cursor === undefined ? null : Number(decodeCursor(scope, cursor, ['number'])[0])
      const rows = await versionPage(db, document, { before, limit })
      return pageOf({ rows, limit, cursor, next: (last) => encodeCursor(scope, [last.seq]) })
    },
  }),

  route({
    method: 'GET',
    path: '/documents/{id}/versions/{seq}/content',
    operationId: 'getVersionContent',
    tag,
    extension: true,
    summary: 'Read a kept version of the body',
    description:
      'In the formats of the current body. A version never changes; `updated_at` is when its body was written.',
    scopes: ['documents:read'],
    params: VersionParameter,
    query: Type.Object(contentQuery),
    conditional: true,
    success: { status: 200, description: 'The body of the version', data: VersionContent, etag: true },
    errors: ['document_not_found', 'version_not_found', 'invalid_node'],
    async handle({ db, caller, params, query }) {
      const document = await requireDocument(db, { documentId: params.id, caller })
      const kept = await requireVersion(db, { document, seq: params.seq })
      const { format = 'tiptap-json', annotate } = query
      const heading = { ...bodyHeading({ ...document, ...kept }), seq: Number(params.seq) }
      const framed = { text: kept.body, heading, resolution: {} }
      const dataText = await contentText({ ...framed, format, anchors: annotate === 'anchors' })
      return { dataText, etag: kept.version }
    },
  }),

  route({
    method: 'POST',
    path: '/documents/{id}/versions/{seq}/rollback',
    operationId: 'rollbackDocument',
    tag,
    summary: 'Bring back a kept version of the body',
    description: 'The current body is kept as a version first. Metadata stay as they are.',
    scopes: ['documents:write'],
    params: VersionParameter,
    guard: 'required',
    rehearsal: bodyRehearsal,
    success: { status: 200, description: 'The restored body', data: RolledBack, minimal: BodyWritten, etag: true },
    errors: ['document_not_found', 'version_not_found', 'version_conflict', 'document_too_large'],
    async handle(call) {
      const { caller, params } = call
      const { id: documentId, seq } = params
      const committed = await restoreVersion(call.write, { documentId, caller, seq, guard: bodyGuard(call) })
      const { document, body } = committed
      const dataText = contentAnswerText({
        text: body.text,
        heading: { ...bodyHeading(document), format: 'tiptap-json' },
        behind: { warnings: [], restored_seq: Number(seq) },
      })
      const minimal = bodyWritten(committed)
      return { dataText, minimal, etag: document.version, workspaceId: document.workspace_id }
    },
  }),
]
