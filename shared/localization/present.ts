import type { Queryable } from '../database/database.ts'
import { presentDocument } from '../documents/present.ts'
import type { DocumentRow } from '../documents/queries.ts'
import type { Document } from '../documents/schema.ts'
import { freshnessOf } from './freshness.ts'
import type { SetMembers } from './members.ts'
import type { DocumentSet, LocalizedDocument } from './schema.ts'
import { unitStatusCounts } from './unit-status-counts.ts'

/** Documents as the API returns them, each with the freshness of its translation. */
export async function presentDocuments(db: Queryable, documents: readonly DocumentRow[]): Promise<Document[]> {
  const freshness = await freshnessOf(db, documents)
  return documents.map((document) => presentDocument(document, freshness(document.id)))
}

/** One document as the API returns it. */
export async function presentOne(db: Queryable, document: DocumentRow): Promise<Document> {
  const freshness = await freshnessOf(db, [document])
  return presentDocument(document, freshness(document.id))
}

/** A document set with all its members (decisions 2.4). */
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

/** Members of document sets; translations with how many units they have by status. */
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

/** One member of a document set. */
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
