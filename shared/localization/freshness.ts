import type { Queryable } from '../database.ts'
import type { DocumentRow } from '../documents/queries.ts'
import { existingDocuments } from './queries.ts'
import type { TranslationFreshness, UnitStatusCounts } from './schema.ts'
import { unitStatusCounts } from './unit-status-counts.ts'

/** How a document stands to its source; only translations have units, and so counts. */
export type TranslationState = { freshness: TranslationFreshness; counts: UnitStatusCounts | null }

/** The state of a document that is no translation: there is nothing it could lag behind. */
const untranslated: TranslationState = { freshness: 'current', counts: null }

/**
 * How each of the documents stands to its source (decisions 2.4), by id, computed at read: `unknown` once the source is
 * deleted or while nothing was translated from a version of it, `outdated` while a unit is missing, changed at the
 * source or in conflict, else `current`.
 */
export async function translationStates(
  db: Queryable,
  documents: readonly DocumentRow[],
): Promise<(id: string) => TranslationState> {
  const translations = documents.filter(({ variant_role }) => variant_role === 'translation')
  if (translations.length === 0) return () => untranslated
  const workspaceIds = [...new Set(translations.map(({ workspace_id }) => workspace_id))]
  const documentIds = translations.map(({ id }) => id)
  const sourceIds = [...new Set(translations.flatMap(({ translated_from_document_id: id }) => id ?? []))]
  const sources = new Set(await existingDocuments(db, { workspaceIds, documentIds: sourceIds }))
  const countsOf = await unitStatusCounts(db, { workspaceIds, documentIds })
  const states = new Map(
    translations.map((translation) => {
      const counts = countsOf.get(translation.id) ?? null
      return [translation.id, { counts, freshness: freshnessOf(translation, { sources, counts }) }]
    }),
  )
  return (id) => states.get(id) ?? untranslated
}

function freshnessOf(
  translation: DocumentRow,
  facts: { sources: ReadonlySet<string>; counts: UnitStatusCounts | null },
): TranslationFreshness {
  const { translated_from_document_id: sourceId, translated_from_version: version } = translation
  if (version === null || sourceId === null || !facts.sources.has(sourceId)) return 'unknown'
  const { missing = 0, source_changed = 0, conflict = 0 } = facts.counts ?? {}
  return missing + source_changed + conflict === 0 ? 'current' : 'outdated'
}
