import Type from 'typebox'
import { commitBody, type Edited } from '../../../shared/body/commit.ts'
import { snapshotText, versionPage } from '../../../shared/body/queries.ts'
import { DocumentVersion, RolledBack } from '../../../shared/body/schema.ts'
import { requireDocument } from '../../../shared/documents/require.ts'
import { Refusal } from '../../../shared/errors/errors.ts'
import { decodeCursor, encodeCursor, pageOf } from '../../http/pagination.ts'
import { DocumentParameter, wholeListLimit, wholeListParameters } from '../../http/parameters.ts'
import { route } from '../../http/route.ts'
import { bodyGuard } from './body-guard.ts'
import { contentAnswerText } from './body-views.ts'
import { bodyHeading } from './stored-body.ts'

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
    method: 'POST',
    path: '/documents/{id}/versions/{seq}/rollback',
    operationId: 'rollbackDocument',
    tag,
    summary: 'Bring back a kept version of the body',
    description: 'The current body is kept as a version first. Metadata stay as they are.',
    scopes: ['documents:write'],
    params: VersionParameter,
    guard: 'required',
    success: { status: 200, description: 'The restored body', data: RolledBack, etag: true },
    errors: ['document_not_found', 'version_not_found', 'version_conflict', 'document_too_large'],
    async handle(call) {
      const { tx, caller, params } = call
      const seq = Number(params.seq)
      const { document, body } = await commitBody<Edited, string>(call.write, {
        documentId: params.id,
        caller,
        // The snapshot must be read before the commit. The commit keeps one more snapshot and may delete the oldest
        // snapshot, which can be the snapshot to restore.
        find: async (_current, document) => {
          const text = Number.isSafeInteger(seq) ? await snapshotText(tx, { ...document, seq }) : null
          if (text === null) throw new Refusal('version_not_found', { details: { id: params.seq } })
          return text
        },
        guard: bodyGuard(call),
        edit: (_current, text) => ({ text }),
      })
      const dataText = contentAnswerText({
        text: body.text,
        heading: { ...bodyHeading(document), format: 'tiptap-json' },
        behind: { warnings: [], restored_seq: seq },
      })
      return { dataText, etag: document.version, workspaceId: document.workspace_id }
    },
  }),
]
