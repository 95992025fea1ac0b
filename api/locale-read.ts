import Type from 'typebox'
import { canonicalLocale } from '../shared/locale.ts'

/** Query parameter of reads that resolve to the best variant of a document set (decisions 2.4). */
export const localeParameter = Type.Optional(
  Type.String({ description: 'BCP 47; resolves to the best variant of a document set' }),
)

/**
 * Says how the locale of a read was resolved; nothing when none was asked for. `resolved` is the locale of the document
 * that is returned, null for one that has none. A tag that is not well-formed is refused with 400 `invalid_locale`.
 */
export function resolvedLocale(locale: string | undefined, resolved: string | null) {
  if (locale === undefined) return {}
  const requested = canonicalLocale(locale, { status: 400, field: 'locale' })
  return { requested_locale: requested, resolved_locale: resolved, fallback_used: resolved !== requested }
}
