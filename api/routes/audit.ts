import Type from 'typebox'
import { Audit, auditPage, presentAudit } from '../../shared/audit/audit.ts'
import { ownedWorkspaces } from '../../shared/auth/caller.ts'
import { Text } from '../../shared/schema/strings.ts'
import { decodeCursor, encodeCursor, pageOf } from '../http/pagination.ts'
import { pageParameters } from '../http/parameters.ts'
import { route } from '../http/route.ts'
import { readTime } from '../http/time-parameter.ts'

const time = 'Unix milliseconds or ISO 8601, exclusive; UTC when no zone is named'

/** The route of the audit log. See `api/guide/authentication.md#audit`. */
export const auditRoutes = [
  route({
    method: 'GET',
    path: '/audit',
    operationId: 'listAudit',
    tag: 'Audit',
    summary: 'List who wrote what',
    description:
      'Every accepted write in the workspaces that the caller owns, newest first. An entry never has a text of a document. An unknown user, token, document or action finds nothing.',
    extension: true,
    scopes: ['documents:read'],
    query: Type.Object({
      ...pageParameters,
      user_id: Type.Optional(Text({ min: 1, max: 100 })),
      token_id: Type.Optional(Text({ min: 1, max: 100 })),
      document_id: Type.Optional(Text({ min: 1, max: 100 })),
      action: Type.Optional(Text({ min: 1, max: 100, description: 'an `operationId`' })),
      after: Type.Optional(Type.String({ description: `written after this time; ${time}` })),
      before: Type.Optional(Type.String({ description: `written before this time; ${time}` })),
    }),
    success: { status: 200, description: 'A page of entries', data: Audit, list: true },
    errors: ['invalid_cursor', 'forbidden'],
    async handle({ db, caller, query, endpoint }) {
      const { limit = 50, cursor, after, before } = query
      const filters = {
        userId: query.user_id,
        tokenId: query.token_id,
        documentId: query.document_id,
        action: query.action,
        after: after === undefined ? undefined : readTime(after, 'after'),
        before: before === undefined ? undefined : readTime(before, 'before'),
      }
      const scope = { endpoint, filters, sort: 'created_at' }
      const position = cursor === undefined ? null : decodeCursor(scope, cursor, ['number', 'number'])
      const workspaceIds = ownedWorkspaces(caller)
      const rows = await auditPage(db, { ...filters, workspaceIds, position, limit })
      const next = (last: (typeof rows)[number]) => encodeCursor(scope, [last.created_at, last.id])
      const { data, page } = pageOf({ rows, limit, cursor, next })
      return { data: data.map(presentAudit), page }
    },
  }),
]
