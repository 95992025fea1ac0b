import { Refusal } from '../errors/errors.ts'
import { canonicalLocale } from '../locales/locale.ts'
import type { LabelInput } from './inputs.ts'

/** The form in which names, aliases and queries are compared (decisions 2.10). */
export function normaliseName(name: string): string {
  return name.normalize('NFKC').trim().replace(/\s+/gu, ' ').toLowerCase()
}

/** A label as it is stored; `locale` is canonical. */
export type NewLabel = { locale: string; name: string; description: string | null }

/** Labels in the form in which they are stored; 422 `invalid_locale` for what is no BCP 47 tag. */
export function storedLabels(labels: readonly LabelInput[]): NewLabel[] {
  return labels.map(({ locale, name, description }) => ({
    locale: canonicalLocale(locale, { status: 422, field: 'locale' }),
    name: name.trim(),
    description: description ?? null,
  }))
}

/** Refuses labels of which two are for the same locale: 400 `invalid_request`. */
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

// What is no locale at all is refused later, after everything that the state of the concept refuses.
function canonicalOrAsIs(locale: string): string {
  try {
    return canonicalLocale(locale, { status: 422, field: 'locale' })
  } catch (error) {
    if (error instanceof Refusal) return locale
    throw error
  }
}
