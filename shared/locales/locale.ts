import Type from 'typebox'
import { Refusal } from '../errors/errors.ts'
import { Nullable } from '../schema/identifiers.ts'

/** The members that a read gains when it was asked for a locale. */
export const resolvedLocaleMembers = {
  requested_locale: Type.Optional(Type.String({ description: 'canonical; only when `locale` was sent' })),
  resolved_locale: Type.Optional(Nullable(Type.String())),
  fallback_used: Type.Optional(Type.Boolean()),
}

/**
 * The canonical form of a BCP 47 tag (`en-us` → `en-US`, `iw` → `he`), as it is stored and returned (decisions 2.4).
 * Refuses with `invalid_locale`: 400 from path and query, 422 from a body.
 */
export function canonicalLocale(locale: string, refusal: { status: 400 | 422; field: string }): string {
  const canonical = canonicalOrNull(locale)
  if (canonical !== null) return canonical
  throw new Refusal('invalid_locale', { status: refusal.status, details: { locale, field: refusal.field } })
}

/** The canonical form of a tag, or null for one that is none, where the refusal has to wait for other checks. */
export function canonicalOrNull(locale: string): string | null {
  try {
    const canonical = Intl.getCanonicalLocales(locale)[0] ?? 'und'
    return canonical.length <= 35 && canonical !== 'und' ? canonical : null
  } catch {
    // RangeError: not well-formed.
    return null
  }
}
