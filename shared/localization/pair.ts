import type { Caller } from '../auth/caller.ts'
import { bodyText } from '../body/queries.ts'
import { StoredBody } from '../body/stored-body.ts'
import type { Queryable, Transaction } from '../database/database.ts'
import type { DocumentRow } from '../documents/queries.ts'
import { Refusal } from '../errors/errors.ts'
import { lockSource } from '../jobs/projections/queries.ts'
import { lockMember, type SetMembers, sourceOf } from './members.ts'
import type { SetRow } from './queries.ts'

/** A translation (`target`) with its source document (`source`) and their document set. */
export type Pair = { set: SetRow; source: DocumentRow; target: DocumentRow }

/** A pair of bodies: the body of a source document and the body of one of its translations. */
export type PairBodies = { source: StoredBody; target: StoredBody }

/**
 * A name that a call uses for a translation: the id of its document, its canonical locale, or both. `localeField` is
 * the member or parameter that gave the locale, for `details.field` of a refusal; by default `locale`.
 */
export type TargetName = { documentId?: string | undefined; locale?: string | undefined; localeField?: string }

/**
 * Returns the translation that the name denotes, or null when document and locale name different translations. Refuses
 * with 404 `translation_not_found`, also when the name denotes the source document.
 */
export function translationNamed({ members }: SetMembers, name: TargetName): DocumentRow | null {
  const { documentId, locale, localeField = 'locale' } = name
  const translations = members.filter(({ variant_role }) => variant_role === 'translation')
  const byId = documentId === undefined ? undefined : translations.find(({ id }) => id === documentId)
  const byLocale = locale === undefined ? undefined : translations.find((member) => member.locale === locale)
  if (documentId !== undefined && byId === undefined) throw notFound(documentId, 'target_document_id')
  if (byId !== undefined && locale !== undefined && byId.locale !== locale) return null
  const found = byId ?? byLocale
  if (found === undefined) throw notFound(locale ?? '', localeField)
  return found
}

/**
 * Returns a translation together with its source document and their set. Refuses with 409 `source_document_missing`
 * when the source document was deleted.
 */
export function pairOf(found: SetMembers, target: DocumentRow): Pair {
  return { set: found.set, source: requireSource(found), target }
}

/**
 * Returns the source document of a set. Refuses with 409 `source_document_missing` when the source document was
 * deleted.
 */
export function requireSource(found: SetMembers): DocumentRow {
  const source = sourceOf(found)
  if (source === null) throw sourceMissing(found.set)
  return source
}

/**
 * Locks the source document and the translation of a pair in id order, and returns both rows as they are now. The
 * translation is locked against every other write. The source document is locked against changes, but other
 * transactions may hold the same lock on it. Refuses with 404 `translation_not_found` when the translation was deleted
 * meanwhile. Refuses with 409 `source_document_missing` when the source document was deleted.
 */
export async function lockPair(tx: Transaction, input: { caller: Caller; pair: Pair }): Promise<Pair> {
  const { caller, pair } = input
  const key = { workspace_id: pair.source.workspace_id, document_id: pair.source.id }
  const sourceFirst = pair.source.id < pair.target.id
  const before = sourceFirst ? await lockSource(tx, key) : null
  const target = await lockMember(tx, { caller, documentId: pair.target.id })
  const source = sourceFirst ? before : await lockSource(tx, key)
  if (target === null || target.document_set_id !== pair.set.id) {
    throw notFound(pair.target.id, 'target_document_id')
  }
  if (source === null) throw sourceMissing(pair.set)
  const { version, body_seq } = source
  return { ...pair, target, source: { ...pair.source, version, body_seq } }
}

/** Reads the bodies of a pair in the versions that the rows of both documents name. */
export async function bodiesOf(db: Queryable, { source, target }: Omit<Pair, 'set'>): Promise<PairBodies> {
  const body = async (document: DocumentRow) =>
    new StoredBody({ version: document.version, text: await bodyText(db, document) })
  return { source: await body(source), target: await body(target) }
}

function notFound(id: string, field: string): Refusal {
  return new Refusal('translation_not_found', { details: { id, field } })
}

function sourceMissing(set: SetRow): Refusal {
  return new Refusal('source_document_missing', { details: { document_set_id: set.id } })
}
