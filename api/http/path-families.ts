import Type, { type TObject, type TString } from 'typebox'
import { canonicalLocale } from '../../shared/locales/locale.ts'
import type { MemberName } from '../../shared/localization/members.ts'
import { documentIdPattern } from '../../shared/schema/ids.ts'
import { DocumentParameter } from './parameters.ts'
import type { Route } from './route.ts'

/** One of the two families of paths that serve the same translation operations (api/guide/translation.md#sets). */
export type Family = {
  /** The document in which the paths of the family are published: the OpenAPI description or the reference. */
  listed: NonNullable<Route['listed']>
  /** The segments below `/documents/{id}`: the plural for translations, the singular for actions on the set. */
  plural: 'translations' | 'localizations'
  singular: 'translation' | 'localization'
  /** The word for a translation in operation ids. */
  noun: 'Translation' | 'Localization'
  /** The path parameter that names one translation. */
  parameter: 'targetDocId' | 'locale'
  /**
   * The schema of all path parameters. The mark `x-error` of a parameter names the code that refuses a malformed value.
   */
  params: TObject<{ id: TString } & Record<string, TString>>
  /** Codes that only this family can answer with. */
  errors: readonly Route['errors'][number][]
  /** Reads the document and the member of its set that the parameters name. */
  read: (params: Record<string, string>) => { documentId: string; name: MemberName }
}

const { id } = DocumentParameter.properties

/** The family that the OpenAPI description lists. The path names a translation by its document. */
export const byDocument: Family = {
  listed: 'openapi',
  plural: 'translations',
  singular: 'translation',
  noun: 'Translation',
  parameter: 'targetDocId',
  params: Type.Object({
    id,
    targetDocId: Type.String({
      pattern: documentIdPattern,
      description: 'document id of the translation',
      'x-error': 'translation_not_found',
    }),
  }),
  errors: [],
  read: ({ id = '', targetDocId = '' }) => ({ documentId: id, name: { documentId: targetDocId } }),
}

/** The family that the reference lists. The path names a translation by its locale. */
export const byLocale: Family = {
  listed: 'reference',
  plural: 'localizations',
  singular: 'localization',
  noun: 'Localization',
  parameter: 'locale',
  params: Type.Object({ id, locale: Type.String({ description: 'BCP 47', 'x-error': 'invalid_locale' }) }),
  errors: ['invalid_locale'],
  read: ({ id = '', locale = '' }) => {
    return { documentId: id, name: { locale: canonicalLocale(locale, { status: 400, field: 'locale' }) } }
  },
}

/**
 * The path in the other family that serves the operation of the given path; null for a route that has only one path.
 */
export function otherFamilyPath({ path, listed }: Pick<Route, 'path' | 'listed'>): string | null {
  if (listed === undefined) return null
  const [from, to] = path.includes('/localization') ? [byLocale, byDocument] : [byDocument, byLocale]
  const renamed = path
    .replace(`/${from.plural}`, `/${to.plural}`)
    .replace(`/${from.singular}/`, `/${to.singular}/`)
    .replace(`/${from.singular}-`, `/${to.singular}-`)
  return renamed.replace(`{${from.parameter}}`, `{${to.parameter}}`)
}
