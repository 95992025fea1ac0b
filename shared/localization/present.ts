import type { Queryable } from '../database/database.ts'
import { presentDocument } from '../documents/present.ts'
import type { DocumentRow } from '../documents/queries.ts'
import type { Document } from '../documents/schema.ts'
import type { SetMembers } from './members.ts'
import { freshnessOf, unitStatusCounts } from './resolve.ts'
import type { DocumentSet, LocalizedDocument } from './schema.ts'

/** Returns documents in the shape of the API, each with its freshness as a translation. */
export async function presentDocuments(db: Queryable, documents: readonly DocumentRow[]): Promise<Document[]> {
  const freshness = await freshnessOf(db, documents)
  return documents.map((document) => presentDocument(document, freshness(document.id)))
}

/** Returns one document in the shape of the API. */
export async function presentOne(db: Queryable, document: DocumentRow): Promise<Document> {
  const freshness = await freshnessOf(db, [document])
  return presentDocument(document, freshness(document.id))
}

/** Returns a document set with all its members in the shape of the API. */
export async function presentSet(db: Queryable, { set, members }: SetMembers): Promise<DocumentSet> {
  const variants = await presentVariants(db, members)
  return {
    id: set.id,
    uri: `svc://docset/${set.id}`,
    source_document_id: set.source_document_id,
    source_locale: set.source_locale,
    fallback_locale: set.fallback_locale,
    available_locales: variants.map(({ locale }) => locale).sort(),
    source: variants.find(({ variant_role }) => variant_role === 'source') ?? null,
    variants,
  }
}

// Returns members of document sets; a translation has the counts of its units by status.
async function presentVariants(db: Queryable, members: readonly DocumentRow[]): Promise<LocalizedDocument[]> {
  const freshness = await freshnessOf(db, members)
  const translations = members.filter(({ variant_role }) => variant_role === 'translation')
  const counts = await unitStatusCounts(db, {
    workspaceIds: [...new Set(translations.map(({ workspace_id }) => workspace_id))],
    documentIds: translations.map(({ id }) => id),
  })
  return members.map((member) => {
    const statusCounts = counts.get(member.id)
    return {
      ...localized(member),
      translation_freshness: freshness(member.id),
      ...(statusCounts !== undefined && { translation_status_counts: statusCounts }),
      translated_from_document_id: member.translated_from_document_id,
      translated_from_version: member.translated_from_version,
    }
  })
}

/** Returns one member of a document set in the shape of the API. */
export async function presentVariant(db: Queryable, member: DocumentRow): Promise<LocalizedDocument> {
  const [variant] = await presentVariants(db, [member])
  if (variant === undefined) throw new Error(`${member.id} was not presented`)
  return variant
}

function localized(member: DocumentRow) {
  const { id, title, document_set_id, locale, variant_role, workflow_status } = member
  if (document_set_id === null || locale === null || variant_role === null || workflow_status === null) {
    throw new Error(`${id} is in no document set`)
  }
  const document_set_uri = `svc://docset/${document_set_id}`
  return { id, title, locale, variant_role, workflow_status, document_set_id, document_set_uri }
}
