import type { Transaction } from '../database/database.ts'
import { Refusal } from '../errors/errors.ts'
import { canonicalLocale } from '../locales/locale.ts'
import type { LabelInput } from './inputs.ts'
import type { NewLabel } from './naming-queries.ts'
import { activeConceptNamed, lockName, type NameClaim } from './queries.ts'

/**
 * Refuses a name that another active concept of the knowledge base has: 409 `concept_name_conflict`. The name stays
 * free until the transaction ends.
 */
export async function claimName(tx: Transaction, claim: NameClaim): Promise<void> {
  await lockName(tx, claim)
  const conceptId = await activeConceptNamed(tx, claim)
  if (conceptId !== null) throw new Refusal('concept_name_conflict', { details: { concept_id: conceptId } })
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

/** Labels in the form in which they are stored; 422 `invalid_locale` for what is no BCP 47 tag. */
export function storedLabels(labels: readonly LabelInput[]): NewLabel[] {
  return labels.map(({ locale, name, description }) => ({
    locale: canonicalLocale(locale, { status: 422, field: 'locale' }),
    name: name.trim(),
    description: description ?? null,
  }))
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
