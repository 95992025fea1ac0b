import type { Caller } from '../../auth/caller.ts'
import type { Queryable } from '../../database/database.ts'
import { Refusal } from '../../errors/errors.ts'
import { canonicalLocale } from '../../locales/locale.ts'
import { findSetOf, sourceOf } from '../members.ts'
import { bodiesOf, translationNamed } from '../pair.ts'
import { placeUnits, presentUnits } from './present.ts'
import { unitsOfTarget } from './queries.ts'
import type { TranslationUnit } from './schema.ts'

/** The filter of a list of units; `after` is the position of the last unit seen, in the order of the source. */
export type UnitFilter = {
  targetDocumentId?: string | undefined
  locale?: string | undefined
  status?: string | undefined
  after: number | null
  limit: number
}

/**
 * Returns up to `limit + 1` units of a translation, so that the caller sees if more follow. A translation whose source
 * was deleted has no units. Refuses with 400 when the filter names no target or names two targets, with 400
 * `invalid_locale`, and with 404 `document_not_found`, `not_localized` or `translation_not_found`. Call it in a
 * snapshot.
 */
export async function listUnits(
  db: Queryable,
  input: { caller: Caller; documentId: string; filter: UnitFilter },
): Promise<TranslationUnit[]> {
  const { filter } = input
  if (filter.targetDocumentId === undefined && filter.locale === undefined) {
    throw invalid('one of target_document_id and locale is required')
  }
  const locale =
    filter.locale === undefined ? undefined : canonicalLocale(filter.locale, { status: 400, field: 'locale' })
  const found = await findSetOf(db, input)
  const target = translationNamed(found, { documentId: filter.targetDocumentId, locale })
  if (target === null) throw invalid('target_document_id and locale name different translations')
  const source = sourceOf(found)
  if (source === null) return []
  const pair = { set: found.set, source, target }
  const key = { workspaceId: target.workspace_id, targetId: target.id, status: filter.status }
  const units = placeUnits(await unitsOfTarget(db, key), await bodiesOf(db, pair))
  const { after } = filter
  const rest = after === null ? units : units.filter(({ position }) => position > after)
  return presentUnits(pair, rest.slice(0, filter.limit + 1))
}

function invalid(message: string): Refusal {
  return new Refusal('invalid_request', { details: { fields: [{ path: '?target_document_id', message }] } })
}
