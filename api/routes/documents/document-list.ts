import Type, { type StaticDecode } from 'typebox'
import { type Caller, visibleWorkspaces } from '../../../shared/auth/caller.ts'
import type { DocumentFilter } from '../../../shared/documents/list.ts'
import { Refusal } from '../../../shared/errors/errors.ts'
import { canonicalLocale } from '../../../shared/locales/locale.ts'
import { IntegerIdFilter } from '../../../shared/schema/identifiers.ts'
import { TrimmedText } from '../../../shared/schema/strings.ts'
import { type CursorScope, decodeCursor } from '../../http/pagination.ts'
import { pageParameters } from '../../http/parameters.ts'

// An ISO 8601 date, then optionally a time with seconds and a fraction, and a zone.
const isoForm =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]{1,9}))?)?(Z|z|[+ -][0-9]{2}(?::?[0-9]{2})?)?)?$/

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
    updatedSince: query.updated_since === undefined ? undefined : readUpdatedSince(query.updated_since),
    locale: query.locale === undefined ? undefined : canonicalLocale(query.locale, { status: 400, field: 'locale' }),
    includeVariants: query.include_variants ?? false,
  }
  const scope = { endpoint: input.endpoint, filters, sort }
  const like = sort === 'id' ? (['string'] as const) : (['number', 'string'] as const)
  const after = query.cursor === undefined ? null : decodeCursor(scope, query.cursor, like)
  const workspaceIds = visibleWorkspaces(input.caller)
  return { filter: { ...filters, workspaceIds, sort, after, limit: query.limit ?? 50 }, scope }
}

function readUpdatedSince(text: string): number {
  const milliseconds = parseUpdatedSince(text)
  if (milliseconds !== null) return milliseconds
  const message = 'must be Unix milliseconds or an ISO 8601 date or date-time'
  throw new Refusal('invalid_request', { details: { fields: [{ path: '?updated_since', message }] } })
}

// Reads Unix milliseconds, or an ISO 8601 date or date-time, which is in UTC when it names no zone. A `+` before the
// zone may have become a space in a URL. Returns Unix milliseconds, or null for any other text.
function parseUpdatedSince(text: string): number | null {
  if (/^[0-9]{1,16}$/.test(text)) return withinRange(Number(text))
  const match = isoForm.exec(text)
  if (match === null) return null
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map((part) => Number(part ?? 0))
  const milliseconds = Math.trunc(Number(`0.${match[7] ?? 0}`) * 1000)
  const local = Date.UTC(year, month - 1, day, hour, minute, second, milliseconds)
  const read = new Date(local)
  const exists =
    read.getUTCMonth() === month - 1 && read.getUTCDate() === day && hour < 24 && minute < 60 && second < 60
  return exists ? withinRange(local - offsetOf(match[8])) : null
}

function offsetOf(zone: string | undefined): number {
  if (zone === undefined || zone.toUpperCase() === 'Z') return 0
  const sign = zone.startsWith('-') ? -1 : 1
  const digits = zone.slice(1).replace(':', '')
  return sign * (Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2))) * 60_000
}

// Bounds a time in Unix milliseconds to what a timestamp column can hold. Every document was changed between the two
// bounds, so a bounded filter finds the same documents.
function withinRange(milliseconds: number): number {
  return Math.min(Math.max(milliseconds, 0), 8.64e15)
}
