import type { Queryable } from '../database/database.ts'
import type { DocumentRow } from '../documents/queries.ts'
import { translationFacts } from './queries.ts'
import type { TranslationFreshness } from './schema.ts'

/**
 * How each of the documents stands to its source (decisions 2.4), computed at read: `unknown` once the source is deleted
 * or while nothing was translated from a version of it, `outdated` while a unit is missing, changed at the source or in
 * conflict, else `current`, as is whatever is no translation. Returns a look-up by id.
 */
export async function freshnessOf(
  db: Queryable,
  documents: readonly DocumentRow[],
): Promise<(id: string) => TranslationFreshness> {
  const translations = documents.filter(({ variant_role }) => variant_role === 'translation')
  if (translations.length === 0) return () => 'current'
  const facts = await translationFacts(db, {
    workspaceIds: [...new Set(translations.map(({ workspace_id }) => workspace_id))],
    documentIds: translations.map(({ id }) => id),
  })
  const byId = new Map(facts.map((fact) => [fact.id, fact]))
  const states = new Map(
    translations.map(({ id, translated_from_version: version }): [string, TranslationFreshness] => {
      const fact = byId.get(id)
      if (version === null || !fact?.has_source) return [id, 'unknown']
      return [id, fact.has_open_unit ? 'outdated' : 'current']
    }),
  )
  return (id) => states.get(id) ?? 'current'
}
