import Type from 'typebox'
import { Refusal } from '../errors/errors.ts'
import { Nullable } from '../schema/identifiers.ts'

/** The members that an answer has in addition when the read named a locale. */
export const resolvedLocaleMembers = {
  requested_locale: Type.Optional(Type.String({ description: 'canonical; only when `locale` was sent' })),
  resolved_locale: Type.Optional(Nullable(Type.String())),
  fallback_used: Type.Optional(Type.Boolean()),
}

/**
 * Returns the canonical form of a BCP 47 tag, in which tags are stored and returned: `en-us` becomes `en-US`, and `iw`
 * becomes `he`. Refuses a malformed tag with `invalid_locale`; the status is 400 for path and query, 422 for a body.
 */
export function canonicalLocale(locale: string, refusal: { status: 400 | 422; field: string }): string {
  const canonical = canonicalOrNull(locale)
  if (canonical !== null) return canonical
  throw new Refusal('invalid_locale', { status: refusal.status, details: { locale, field: refusal.field } })
}

/**
 * Returns the canonical form of a tag, or null for a malformed tag. This function serves calls that refuse a malformed
 * tag only after other checks.
 */
export function canonicalOrNull(locale: string): string | null {
  try {
    const canonical = Intl.getCanonicalLocales(locale)[0] ?? 'und'
    return canonical.length <= 35 && canonical !== 'und' ? canonical : null
  } catch {
    // `Intl` throws a RangeError when the tag is not well-formed.
    return null
  }
}
