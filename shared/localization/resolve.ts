import type { Queryable } from '../database/database.ts'
import type { DocumentLocator } from '../documents/queries.ts'
import { lookupLocale } from './lookup.ts'
import { variantsOf } from './queries.ts'

/**
 * The document that a read of `documentId` in a locale is about (decisions 2.4): the variant that RFC 4647 looks up,
 * else the one in the fallback locale of the set, else its source, else the document itself, which is also the answer
 * for an ordinary document. It may be gone by the time it is read.
 */
export async function resolveVariant(db: Queryable, input: DocumentLocator & { locale: string }): Promise<string> {
  const variants = await variantsOf(db, input)
  const byLocale = new Map(variants.map((variant) => [variant.locale, variant.document_id]))
  const { fallback_locale = '', source_locale = '' } = variants[0] ?? {}
  const found = lookupLocale(input.locale, new Set(byLocale.keys()))
  return byLocale.get(found ?? fallback_locale) ?? byLocale.get(source_locale) ?? input.documentId
}
