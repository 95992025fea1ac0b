import Type from 'typebox'
import { auditPage, TranslationAuditRecord } from '../../../shared/localization/audit.ts'
import { findSetOf } from '../../../shared/localization/members.ts'
import { decodeCursor, encodeCursor, pageOf } from '../../http/pagination.ts'
import { DocumentParameter, pageParameters } from '../../http/parameters.ts'
import type { Family } from '../../http/path-families.ts'
import { route } from '../../http/route.ts'

/** The audit of a document set, under the paths of one family. */
export const auditRoutes = ({ listed, singular, noun }: Family) => [
  route({
    method: 'GET',
    path: `/documents/{id}/${singular}-audit`,
    operationId: `list${noun}Audit`,
    listed,
    tag: 'Localization',
    summary: 'List what was done to the document set, newest first',
    scopes: ['documents:read'],
    params: DocumentParameter,
    query: Type.Object(pageParameters),
    success: { status: 200, description: 'Audit records', data: TranslationAuditRecord, list: true },
    errors: ['document_not_found', 'not_localized', 'invalid_cursor'],
    async handle({ db, caller, params, query, endpoint }) {
      const { limit = 50, cursor } = query
      const scope = { endpoint, filters: { id: params.id }, sort: 'created_at' }
      const [createdAt, id] = cursor === undefined ? [] : decodeCursor(scope, cursor, ['number', 'string'])
      const after = id === undefined ? null : { createdAt: Number(createdAt), id: String(id) }
      const { set } = await findSetOf(db, { caller, documentId: params.id })
      const rows = await auditPage(db, { set, after, limit })
      return pageOf({ rows, limit, cursor, next: (last) => encodeCursor(scope, [last.created_at, last.id]) })
    },
  }),
]
