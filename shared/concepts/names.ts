import { Refusal } from '../errors/errors.ts'
import { canonicalLocale } from '../locales/locale.ts'
import type { LabelInput } from './inputs.ts'

/** Returns the form in which names, aliases and queries are compared: NFKC, lower case, white space collapsed. */
export function normaliseName(name: string): string {
  return name.normalize('NFKC').trim().replace(/\s+/gu, ' ').toLowerCase()
}

/** A label to store; `locale` is a canonical BCP 47 tag. */
export type NewLabel = { locale: string; name: string; description: string | null }

/**
 * Returns labels in the form in which they are stored. Refuses with 422 `invalid_locale` when a locale is no BCP 47
 * tag.
 */
export function storedLabels(labels: readonly LabelInput[]): NewLabel[] {
  return labels.map(({ locale, name, description }) => ({
    locale: canonicalLocale(locale, { status: 422, field: 'locale' }),
    name: name.trim(),
    description: description ?? null,
  }))
}

/** Refuses with 400 `invalid_request` when two labels have the same locale. */
export function requireDistinctLocales(labels: readonly LabelInput[]): void {
  const seen = new Set<string>()
  for (const [index, { locale }] of labels.entries()) {
    const canonical = canonicalOrAsIs(locale)
    if (seen.has(canonical)) {
      const fields = [{ path: `/labels/${index}/locale`, message: 'must be the only label of its locale' }]
      throw new Refusal('invalid_request', { details: { fields } })
    }
    seen.add(canonical)
  }
}

// An invalid locale stays as it is here, since conflicts with the state of the concept are reported first. Later
// `storedLabels` refuses the locale.
function canonicalOrAsIs(locale: string): string {
  try {
    return canonicalLocale(locale, { status: 422, field: 'locale' })
  } catch (error) {
    if (error instanceof Refusal) return locale
    throw error
  }
}
