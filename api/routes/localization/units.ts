import Type from 'typebox'
import { inSnapshot } from '../../../shared/database/database.ts'
import { actorOf } from '../../../shared/localization/audit.ts'
import { listUnits, unitsView } from '../../../shared/localization/units/list.ts'
import { prepareTranslation } from '../../../shared/localization/units/prepare.ts'
import { reviewUnit } from '../../../shared/localization/units/review.ts'
import {
  Prepared,
  PrepareInput,
  ReviewInput,
  TranslationUnit,
  UnitStatusName,
} from '../../../shared/localization/units/schema.ts'
import { ulidPattern } from '../../../shared/schema/ids.ts'
import { decodeCursor, encodeCursor } from '../../http/pagination.ts'
import { DocumentParameter, wholeListLimit, wholeListParameters } from '../../http/parameters.ts'
import { byDocument } from '../../http/path-families.ts'
import { route } from '../../http/route.ts'
import { targetGuard } from './target-guard.ts'

const tag = 'Localization'

const UnitParameter = Type.Object({
  ...DocumentParameter.properties,
  unitId: Type.String({
    pattern: `^tu_${ulidPattern}$`,
    description: 'translation unit id',
    'x-error': 'unit_not_found',
  }),
})

/**
 * The routes of translation units. Each translation has one unit for each paragraph or heading of the source that has
 * text.
 */
export const unitRoutes = [
  route({
    method: 'GET',
    path: '/documents/{id}/translation-units',
    operationId: 'listTranslationUnits',
    tag,
    summary: 'List the units of a translation, in the order of the source',
    description:
      'The document is any member of the set; the translation is named by `target_document_id` or `locale`. `missing`, `source_changed` and `conflict` are open work.',
    scopes: ['documents:read'],
    params: DocumentParameter,
    query: Type.Object({
      target_document_id: Type.Optional(Type.String({ description: 'document id of the translation' })),
      locale: Type.Optional(Type.String({ description: 'BCP 47' })),
      status: Type.Optional(UnitStatusName),
      ...wholeListParameters,
    }),
    success: { status: 200, description: 'Units', data: TranslationUnit, list: true },
    errors: ['document_not_found', 'not_localized', 'translation_not_found', 'invalid_locale', 'invalid_cursor'],
    async handle({ service, caller, params, query, endpoint }) {
      const { limit = wholeListLimit, cursor, target_document_id: targetDocumentId, locale, status } = query
      const scope = { endpoint, filters: { id: params.id, targetDocumentId, locale, status }, sort: 'position' }
      const after = cursor === undefined ? null : Number(decodeCursor(scope, cursor, ['number'])[0])
      const filter = { targetDocumentId, locale, status, after, limit }
      const request = { caller, documentId: params.id, filter }
      const view = await inSnapshot(service.database, (db) => unitsView(db, request))
      const units = view === null ? { dataText: '[]', last: null, hasMore: false } : await listUnits(view)
      const next_cursor = units.hasMore && units.last !== null ? encodeCursor(scope, [units.last]) : null
      return { dataText: units.dataText, page: { cursor: cursor ?? null, next_cursor, has_more: units.hasMore } }
    },
  }),

  route({
    method: 'PATCH',
    path: '/documents/{id}/translation-units/{unitId}',
    operationId: 'reviewTranslationUnit',
    tag,
    summary: 'Confirm or ignore a unit, and say which blocks hold its text',
    description:
      'If-Match is that of the translation. `current` confirms the texts of both sides as they are now, also an empty one; a machine never changes a unit that was confirmed or edited.',
    scopes: ['documents:write'],
    params: UnitParameter,
    body: ReviewInput,
    guard: 'required',
    success: { status: 200, description: 'The unit', data: TranslationUnit, etag: true },
    errors: [
      'document_not_found',
      'translation_not_found',
      'unit_not_found',
      'localization_not_active',
      'source_document_missing',
      'version_conflict',
      'block_not_found',
    ],
    async handle(call) {
      const { caller, client, params, body } = call
      const { unit, target } = await reviewUnit(call, {
        caller,
        actor: actorOf(caller, client),
        documentId: params.id,
        unitId: params.unitId,
        review: body,
        guard: targetGuard(call),
      })
      const documentIds = [target.id, params.id]
      return { data: unit, etag: target.version, workspaceId: target.workspace_id, documentIds }
    },
  }),

  route({
    method: 'POST',
    path: '/documents/{id}/translations/{targetDocId}/prepare',
    operationId: 'prepareTranslation',
    tag,
    summary: 'Map the units of a translation to its blocks',
    description:
      'Derives the units anew and, by position, maps those without a block to blocks without a unit. Changes no body and no review.',
    scopes: ['documents:write'],
    params: byDocument.params,
    body: PrepareInput,
    success: { status: 200, description: 'What was mapped', data: Prepared },
    errors: ['document_not_found', 'translation_not_found', 'localization_not_active', 'source_document_missing'],
    async handle({ tx, ahead, caller, client, params, body }) {
      const { documentId, name } = byDocument.read(params)
      const context = { tx, ahead }
      const { prepared, target } = await prepareTranslation(context, {
        caller,
        actor: actorOf(caller, client),
        documentId,
        targetId: 'documentId' in name ? name.documentId : '',
        align: body.align ?? 'by_position',
      })
      return { data: prepared, workspaceId: target.workspace_id, documentIds: [target.id, documentId] }
    },
  }),
]
