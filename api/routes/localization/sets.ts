import Type from 'typebox'
import { Document } from '../../../shared/documents/schema.ts'
import { actorOf, auditPage, TranslationAuditRecord } from '../../../shared/localization/audit.ts'
import { findSet, findSetOf } from '../../../shared/localization/members.ts'
import { presentOne, presentSet } from '../../../shared/localization/present.ts'
import { ActivateInput, DocumentSet } from '../../../shared/localization/schema.ts'
import { activateLocalization, deactivateLocalization } from '../../../shared/localization/sets.ts'
import { decodeCursor, encodeCursor, pageOf } from '../../http/pagination.ts'
import { DocumentParameter, DocumentSetParameter, pageParameters } from '../../http/parameters.ts'
import type { Family } from '../../http/path-families.ts'
import { apiPrefix, route } from '../../http/route.ts'

const tag = 'Localization'

/** The route that reads a document set by the id of the set. */
export const documentSetRoutes = [
  route({
    method: 'GET',
    path: '/document-sets/{id}',
    operationId: 'getDocumentSet',
    tag,
    summary: 'Read a document set',
    scopes: ['documents:read'],
    params: DocumentSetParameter,
    success: { status: 200, description: 'The set with all its members', data: DocumentSet },
    errors: ['document_set_not_found'],
    handle: async ({ db, caller, params }) => ({
      data: await presentSet(db, await findSet(db, { caller, id: params.id })),
    }),
  }),
]

/** The routes of the document set that a document is in, under the paths of one family. */
export const setRoutes = ({ listed, plural, singular, noun }: Family) => [
  route({
    method: 'GET',
    path: `/documents/{id}/${plural}`,
    operationId: `list${noun}s`,
    listed,
    tag,
    summary: 'Read the document set that a document is in',
    scopes: ['documents:read'],
    params: DocumentParameter,
    success: { status: 200, description: 'The set with all its members', data: DocumentSet },
    errors: ['document_not_found', 'not_localized'],
    handle: async ({ db, caller, params }) => ({
      data: await presentSet(db, await findSetOf(db, { caller, documentId: params.id })),
    }),
  }),

  route({
    method: 'POST',
    path: `/documents/{id}/${singular}/activate`,
    operationId: `activate${noun}`,
    listed,
    tag,
    summary: 'Make a document the source of a document set',
    description:
      'The document gets its locale and becomes the source; each of `target_locales` becomes a translation beside it.',
    scopes: ['documents:write'],
    params: DocumentParameter,
    body: ActivateInput,
    success: { status: 201, description: 'The new set', data: DocumentSet, location: true },
    errors: [
      'document_not_found',
      'localization_already_active',
      'quota_exceeded',
      'invalid_locale',
      'invalid_translation',
    ],
    async handle({ tx, write, caller, client, params, body }) {
      const request = { caller, actor: actorOf(caller, client), documentId: params.id, activation: body }
      const { workspaceId, setId } = await activateLocalization(write, request)
      const data = await presentSet(tx, await findSet(tx, { caller, id: setId }))
      const documentIds = data.variants.map(({ id }) => id).reverse()
      return { data, location: `${apiPrefix}/document-sets/${setId}`, workspaceId, documentIds }
    },
  }),

  route({
    method: 'POST',
    path: `/documents/{id}/${singular}/deactivate`,
    operationId: `deactivate${noun}`,
    listed,
    tag,
    summary: 'Make the source of a document set an ordinary document again',
    description: 'Only when the set has no translation; the set and its audit are removed.',
    scopes: ['documents:write'],
    params: DocumentParameter,
    success: { status: 200, description: 'The document', data: Document },
    errors: ['document_not_found', 'localization_not_active', 'translations_exist'],
    async handle({ tx, write, caller, params }) {
      const document = await deactivateLocalization(write, { caller, documentId: params.id })
      return { data: await presentOne(tx, document), workspaceId: document.workspace_id }
    },
  }),
]

/** The route of the audit of a document set, under the paths of one family. */
export const auditRoutes = ({ listed, singular, noun }: Family) => [
  route({
    method: 'GET',
    path: `/documents/{id}/${singular}-audit`,
    operationId: `list${noun}Audit`,
    listed,
    tag,
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
