import type { Queryable } from '../database.ts'
import { presentDocument } from '../documents/present.ts'
import type { DocumentRow } from '../documents/queries.ts'
import type { Document } from '../documents/schema.ts'
import { type TranslationState, translationStates } from './freshness.ts'
import type { SetMembers } from './members.ts'
import type { DocumentSet, LocalizedDocument } from './schema.ts'

/** Documents as the API returns them, each with the freshness of its translation. */
export async function presentDocuments(db: Queryable, documents: readonly DocumentRow[]): Promise<Document[]> {
  const stateOf = await translationStates(db, documents)
  return documents.map((document) => presentDocument(document, stateOf(document.id).freshness))
}

/** One document as the API returns it. */
export async function presentOne(db: Queryable, document: DocumentRow): Promise<Document> {
  const stateOf = await translationStates(db, [document])
  return presentDocument(document, stateOf(document.id).freshness)
}

/** A document set with all its members (decisions 2.4). */
export async function presentSet(db: Queryable, { set, members }: SetMembers): Promise<DocumentSet> {
  const stateOf = await translationStates(db, members)
  const variants = members.map((member) => localized(member, stateOf(member.id)))
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

/** One member of a document set. */
export async function presentVariant(db: Queryable, member: DocumentRow): Promise<LocalizedDocument> {
  const stateOf = await translationStates(db, [member])
  return localized(member, stateOf(member.id))
}

function localized(member: DocumentRow, { freshness, counts }: TranslationState): LocalizedDocument {
  const { document_set_id, locale, variant_role, workflow_status } = member
  if (document_set_id === null || locale === null || variant_role === null || workflow_status === null) {
    throw new Error(`${member.id} is in no document set`)
  }
  return {
    id: member.id,
    title: member.title,
    locale,
    variant_role,
    workflow_status,
    document_set_id,
    document_set_uri: `svc://docset/${document_set_id}`,
    translation_freshness: freshness,
    ...(counts !== null && { translation_status_counts: counts }),
    translated_from_document_id: member.translated_from_document_id,
    translated_from_version: member.translated_from_version,
  }
}
