import type { Caller } from '../auth/caller.ts'
import type { Transaction } from '../database/database.ts'
import { type DocumentRow, documentsOfSets, unlocalized, updateLocalization } from '../documents/queries.ts'
import { Refusal } from '../errors/errors.ts'
import type { Jobs } from '../jobs/queues.ts'
import { announceMember } from './announce.ts'
import { holdMember } from './hold.ts'
import { findWritableSetOf } from './members.ts'
import { deleteSet, type SetRow } from './queries.ts'

/**
 * Makes the source of a set without translations an ordinary document again; the set and its audit go (decisions 2.4).
 * Returns the source. 404, 403, 409 `localization_not_active` or `translations_exist`.
 */
export async function deactivateLocalization(
  context: { tx: Transaction; jobs: Jobs },
  input: { caller: Caller; documentId: string },
): Promise<DocumentRow> {
  const { tx } = context
  const { caller } = input
  const { set } = await findWritableSetOf(tx, input)
  // Nobody adds a translation while the source is locked.
  const source = await holdMember(tx, { caller, documentId: set.source_document_id })
  await requireNoTranslations(tx, set)
  if (source === null || source.document_set_id !== set.id) throw new Refusal('localization_not_active')
  const userId = caller.userId
  const document = await updateLocalization(tx, { document: source, localization: unlocalized, updatedBy: userId })
  await deleteSet(tx, set)
  await announceMember(context, { document, changes: ['locale'] })
  return document
}

async function requireNoTranslations(tx: Transaction, set: SetRow): Promise<void> {
  const members = await documentsOfSets(tx, { workspaceId: set.workspace_id, documentSetIds: [set.id] })
  const locales = members.flatMap(({ locale, variant_role }) => (variant_role === 'translation' ? (locale ?? []) : []))
  if (locales.length > 0) throw new Refusal('translations_exist', { details: { locales: locales.sort() } })
}
