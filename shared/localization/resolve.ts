import Type from 'typebox'
import { type Queryable, sql } from '../database/database.ts'
import { row } from '../database/row.ts'
import { inWorkspaces } from '../database/workspaces.ts'
import type { DocumentLocator, DocumentRow } from '../documents/queries.ts'
import { translationFacts, variantsOf } from './queries.ts'
import { type TranslationFreshness, type UnitStatusCounts, unitStatuses } from './schema.ts'

const CountRow = row(
  Type.Object({ document_id: Type.String(), status: Type.Enum([...unitStatuses]), count: Type.Number() }),
)

/**
 * Returns the id of the document that answers a read of `documentId` in a locale. The first match wins among four
 * documents. First comes the member of the set that the lookup of RFC 4647 finds. Then come the member in the fallback
 * locale, the source document, and the document itself. A document in no set always answers for itself. The returned
 * document may be deleted before the caller reads it.
 */
export async function resolveVariant(db: Queryable, input: DocumentLocator & { locale: string }): Promise<string> {
  const variants = await variantsOf(db, input)
  const byLocale = new Map(variants.map((variant) => [variant.locale, variant.document_id]))
  const { fallback_locale = '', source_locale = '' } = variants[0] ?? {}
  const found = lookupLocale(input.locale, new Set(byLocale.keys()))
  return byLocale.get(found ?? fallback_locale) ?? byLocale.get(source_locale) ?? input.documentId
}

/**
 * Returns the best available locale for a requested locale by the lookup of RFC 4647, section 3.4, or null. The lookup
 * tries the tag itself, then drops the last subtag until a locale is available: `zh-Hant-TW`, `zh-Hant`, `zh`. A single
 * letter that a drop leaves at the end, such as the `x` of private use, is dropped too. All tags are canonical.
 * @internal
 */
export function lookupLocale(requested: string, available: ReadonlySet<string>): string | null {
  const subtags = requested.split('-')
  while (subtags.length > 0) {
    const range = subtags.join('-')
    if (available.has(range)) return range
    subtags.pop()
    if (subtags.at(-1)?.length === 1) subtags.pop()
  }
  return null
}

/**
 * Computes the freshness of each document as a translation, and returns a function that maps a document id to the
 * freshness. A translation is `unknown` when its source document is deleted, or when it was never translated from a
 * version of its source document. It is `outdated` while a unit is missing, changed at the source or in conflict. Every
 * other document is `current`.
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

/**
 * Counts the units of translations by status. Returns the counts by document id, with zeros where there are no units.
 */
export async function unitStatusCounts(
  db: Queryable,
  input: { workspaceIds: readonly string[]; documentIds: readonly string[] },
): Promise<Map<string, UnitStatusCounts>> {
  const rows = await db.any(sql.type(CountRow)`
    SELECT target_document_id AS document_id, status, count(*) AS count FROM translation_units
    WHERE ${inWorkspaces(sql.fragment`workspace_id`, input.workspaceIds)}
      AND target_document_id = ANY(${sql.array([...input.documentIds], 'text')})
    GROUP BY target_document_id, status`)
  const counts = new Map(input.documentIds.map((id) => [id, noUnits()]))
  for (const { document_id, status, count } of rows) (counts.get(document_id) ?? noUnits())[status] = count
  return counts
}

function noUnits(): UnitStatusCounts {
  return Object.fromEntries(unitStatuses.map((status) => [status, 0])) as UnitStatusCounts
}
