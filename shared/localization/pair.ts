import type { Caller } from '../auth/caller.ts'
import { bodyText } from '../body/queries.ts'
import { StoredBody } from '../body/stored-body.ts'
import type { Queryable, Transaction } from '../database/database.ts'
import type { DocumentRow } from '../documents/queries.ts'
import { Refusal } from '../errors/errors.ts'
import { lockSource } from '../jobs/projections/queries.ts'
import { holdMember } from './hold.ts'
import { type SetMembers, sourceOf } from './members.ts'
import type { SetRow } from './queries.ts'

/** A translation and the source it follows. */
export type Pair = { set: SetRow; source: DocumentRow; target: DocumentRow }

/** The bodies of a pair. */
export type PairBodies = { source: StoredBody; target: StoredBody }

/**
 * How a call names a translation: by its document, by its canonical locale, or by both, which then have to agree.
 * `localeField` is the member or parameter that gave the locale, `locale` unless said otherwise.
 */
export type TargetName = { documentId?: string | undefined; locale?: string | undefined; localeField?: string }

/** The translation of that name; 404 `translation_not_found`, also for the source. Null when the two names disagree. */
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

/** The pair of a translation; 409 `source_document_missing` once the source was deleted. */
export function pairOf(found: SetMembers, target: DocumentRow): Pair {
  return { set: found.set, source: requireSource(found), target }
}

/** The source of a set; 409 `source_document_missing` once it was deleted. */
export function requireSource(found: SetMembers): DocumentRow {
  const source = sourceOf(found)
  if (source === null) throw sourceMissing(found.set)
  return source
}

/**
 * Locks a pair in the order of the ids, the target against every other write, the source against being changed, and
 * returns both as they are now. 404 when the target has gone meanwhile, 409 `source_document_missing` when the source has.
 */
export async function holdPair(tx: Transaction, input: { caller: Caller; pair: Pair }): Promise<Pair> {
  const { caller, pair } = input
  const key = { workspace_id: pair.source.workspace_id, document_id: pair.source.id }
  const holdSource = () => lockSource(tx, key)
  const holdTarget = () => holdMember(tx, { caller, documentId: pair.target.id })
  const sourceFirst = pair.source.id < pair.target.id
  const before = sourceFirst ? await holdSource() : null
  const target = await holdTarget()
  const source = sourceFirst ? before : await holdSource()
  if (target === null || target.document_set_id !== pair.set.id) {
    throw notFound(pair.target.id, 'target_document_id')
  }
  if (source === null) throw sourceMissing(pair.set)
  const { version, body_seq } = source
  return { ...pair, target, source: { ...pair.source, version, body_seq } }
}

/** The bodies of a pair as its rows say. */
export async function bodiesOf(db: Queryable, { source, target }: Pair): Promise<PairBodies> {
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
