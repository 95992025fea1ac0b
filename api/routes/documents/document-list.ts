import Type, { type StaticDecode } from 'typebox'
import { type Caller, visibleWorkspaces } from '../../../shared/auth/caller.ts'
import type { DocumentFilter } from '../../../shared/documents/list.ts'
import { canonicalLocale } from '../../../shared/locales/locale.ts'
import { IntegerIdFilter } from '../../../shared/schema/identifiers.ts'
import { TrimmedText } from '../../../shared/schema/strings.ts'
import { metadataFilter, metadataParameters } from '../../http/metadata-parameters.ts'
import { type CursorScope, decodeCursor } from '../../http/pagination.ts'
import { pageParameters } from '../../http/parameters.ts'
import { readTime } from '../../http/time-parameter.ts'

/** The query of `GET /documents`. */
export const documentListParameters = Type.Object({
  ...pageParameters,
  q: Type.Optional(TrimmedText({ min: 1, max: 200, description: 'part of the title, ignoring case' })),
  knowledge_base_id: Type.Optional(IntegerIdFilter()),
  folder_id: Type.Optional(IntegerIdFilter({ description: 'direct children only' })),
  updated_since: Type.Optional(
    Type.String({ description: 'Unix milliseconds or ISO 8601, inclusive; UTC when no zone is named' }),
  ),
  sort: Type.Optional(Type.Enum(['updated_at'], { description: 'newest first; by default by id' })),
  locale: Type.Optional(Type.String({ description: 'BCP 47; exact match, includes translations' })),
  ...metadataParameters,
  include_variants: Type.Optional(Type.Boolean({ default: false, description: 'also list translations' })),
})

/**
 * Returns the filter of a list request and the scope of its cursors. Refuses with 400 `invalid_request` for a bad
 * `updated_since`, with 400 `invalid_locale`, and with 400 for a cursor of another list.
 */
export function documentFilter(input: {
  query: StaticDecode<typeof documentListParameters>
  caller: Caller
  endpoint: string
}): { filter: DocumentFilter; scope: CursorScope } {
  const { query } = input
  const sort = query.sort ?? 'id'
  const filters = {
    knowledgeBaseId: query.knowledge_base_id,
    folderId: query.folder_id,
    titleContains: query.q?.trim(),
    updatedSince: query.updated_since === undefined ? undefined : readTime(query.updated_since, 'updated_since'),
    locale: query.locale === undefined ? undefined : canonicalLocale(query.locale, { status: 400, field: 'locale' }),
    includeVariants: query.include_variants ?? false,
    metadata: metadataFilter(query),
  }
  const scope = { endpoint: input.endpoint, filters, sort }
  const like = sort === 'id' ? (['string'] as const) : (['number', 'string'] as const)
  const after = query.cursor === undefined ? null : decodeCursor(scope, query.cursor, like)
  const workspaceIds = visibleWorkspaces(input.caller)
  return { filter: { ...filters, workspaceIds, sort, after, limit: query.limit ?? 50 }, scope }
}
