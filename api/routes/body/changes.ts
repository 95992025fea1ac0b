import Type from 'typebox'
import { type ChangePosition, changesAfter, changesBaseline } from '../../../shared/changes/read.ts'
import { DocumentChanges } from '../../../shared/changes/schema.ts'
import { requireDocument } from '../../../shared/documents/require.ts'
import { type CursorScope, decodeCursor, encodeCursor } from '../../http/pagination.ts'
import { DocumentParameter } from '../../http/parameters.ts'
import { route } from '../../http/route.ts'
import { baselineText } from './body-views.ts'
import { requireBody } from './stored-body.ts'

/** The route of the changes of a document. See `api/guide/changes.md#watermark`. */
export const changesRoutes = [
  route({
    method: 'GET',
    path: '/documents/{id}/changes',
    operationId: 'listChanges',
    tag: 'Changes',
    summary: 'Follow the changes of a document block by block',
    description:
      'Without `after`: a baseline with the manifest of the top-level blocks and a cursor. With it: what was added, removed, modified and moved since, one batch for each write. To keep a manifest current, apply batch by batch (the changes of one `cursor`): take out what is removed or moved by its `block_id`, then put in what is added or moved at its `new_position`, lowest first; replace what is modified. Only `freshness=current` with `complete=true` is continuous. With `sync_required=true` read the body again and take a new baseline; when `freshness=stale`, the same `after` works once the worker has caught up.',
    scopes: ['documents:read'],
    params: DocumentParameter,
    query: Type.Object({
      after: Type.Optional(Type.String({ description: 'cursor of an earlier answer' })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 100, description: 'batches per page' })),
    }),
    success: { status: 200, description: 'A baseline, or the changes since', data: DocumentChanges },
    errors: ['document_not_found', 'invalid_cursor'],
    async handle(call) {
      const { after, limit = 100 } = call.query
      const scope: CursorScope = { endpoint: call.endpoint, filters: call.params, sort: 'body_seq' }
      const cursorOf = ({ chain, bodySeq }: ChangePosition) => encodeCursor(scope, [chain, bodySeq])
      if (after === undefined) {
        const { stored } = await requireBody(call)
        const baseline = await changesBaseline(call.db, { body: stored, cursorOf })
        return { dataText: await baselineText({ text: stored.body, baseline }) }
      }
      const body = await requireDocument(call.db, { caller: call.caller, documentId: call.params.id })
      const [chain = 0, bodySeq = 0] = decodeCursor(scope, after, ['number', 'number']).map(Number)
      const waitMs = call.service.config.CHANGES_WAIT_MS
      return { data: await changesAfter(call.db, { body, after: { chain, bodySeq }, limit, waitMs, cursorOf }) }
    },
  }),
]
