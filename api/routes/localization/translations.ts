import { actorOf } from '../../../shared/localization/audit.ts'
import { presentVariant } from '../../../shared/localization/present.ts'
import {
  LocalizedDocument,
  TranslationCreateInput,
  TranslationUpdateInput,
} from '../../../shared/localization/schema.ts'
import { addTranslation, deleteTranslation, updateTranslation } from '../../../shared/localization/translations.ts'
import { DocumentParameter } from '../../http/parameters.ts'
import type { Family } from '../../http/path-families.ts'
import { apiPrefix, route } from '../../http/route.ts'

const tag = 'Localization'

/** The routes of the translations of a document, under the paths of one family. */
export const translationRoutes = ({ listed, plural, noun, parameter, params, errors, read }: Family) => [
  route({
    method: 'POST',
    path: `/documents/{id}/${plural}`,
    operationId: `add${noun}`,
    listed,
    tag,
    summary: 'Add a translation',
    description: 'It stands beside the source and has a body, block ids and versions of its own.',
    scopes: ['documents:write'],
    params: DocumentParameter,
    body: TranslationCreateInput,
    success: { status: 201, description: 'The new translation', data: LocalizedDocument, location: true },
    errors: [
      'document_not_found',
      'localization_not_active',
      'source_document_missing',
      'locale_exists',
      'quota_exceeded',
      'invalid_locale',
    ],
    async handle({ tx, write, caller, client, params, body }) {
      const { locale, create_mode: mode = 'blank' } = body
      const request = { caller, actor: actorOf(caller, client), documentId: params.id, locale, mode }
      const added = await addTranslation(write, request)
      const location = `${apiPrefix}/documents/${added.id}`
      const documentIds = [added.id, params.id]
      return { data: await presentVariant(tx, added), location, workspaceId: added.workspace_id, documentIds }
    },
  }),

  route({
    method: 'PATCH',
    path: `/documents/{id}/${plural}/{${parameter}}`,
    operationId: `update${noun}`,
    listed,
    tag,
    summary: 'Change title or workflow status of a member',
    description: 'The source is a member, too. Absent members stay; any workflow status may follow any other.',
    scopes: ['documents:write'],
    params,
    body: TranslationUpdateInput,
    success: { status: 200, description: 'The member', data: LocalizedDocument },
    errors: ['document_not_found', 'translation_not_found', 'localization_not_active', ...errors],
    async handle({ tx, write, caller, client, params, body }) {
      const request = { ...read(params), caller, actor: actorOf(caller, client), update: body }
      const updated = await updateTranslation(write, request)
      return { data: await presentVariant(tx, updated), documentIds: [updated.id, request.documentId] }
    },
  }),

  route({
    method: 'DELETE',
    path: `/documents/{id}/${plural}/{${parameter}}`,
    operationId: `delete${noun}`,
    listed,
    tag,
    summary: 'Delete a translation with its body and versions',
    scopes: ['documents:write'],
    params,
    success: { status: 204, description: 'Deleted', data: null },
    errors: [
      'document_not_found',
      'translation_not_found',
      'localization_not_active',
      'cannot_delete_source',
      ...errors,
    ],
    async handle({ write, params }) {
      const request = read(params)
      return { documentIds: [await deleteTranslation(write, request), request.documentId] }
    },
  }),
]
