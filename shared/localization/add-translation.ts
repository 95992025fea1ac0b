import type { Caller } from '../auth/caller.ts'
import { visibleWorkspaces } from '../auth/caller.ts'
import type { Transaction } from '../database/database.ts'
import { type DocumentRow, documentsOfSets } from '../documents/queries.ts'
import { Refusal } from '../errors/errors.ts'
import { canonicalLocale } from '../locales/locale.ts'
import { type Actor, recordAudit } from './audit.ts'
import { holdSource } from './hold.ts'
import { findWritableSetOf } from './members.ts'
import type { SetRow } from './queries.ts'
import type { CreateMode } from './schema.ts'
import { type CreateContext, createTranslations } from './translations.ts'

/**
 * Adds a translation to the set of a document, which may be any member (decisions 2.4). 404, 403, 409
 * `localization_not_active` or `source_document_missing`, 422 `invalid_locale`, 409 `locale_exists` or
 * `quota_exceeded`. The source stays locked, so that of two that add the same locale the second one sees the first.
 */
export async function addTranslation(
  context: CreateContext,
  input: { caller: Caller; actor: Actor; documentId: string; locale: string; mode: CreateMode },
): Promise<DocumentRow> {
  const { tx } = context
  const { caller, mode } = input
  const { set } = await findWritableSetOf(tx, input)
  const source = await holdSourceOf(tx, { set, caller })
  const locale = canonicalLocale(input.locale, { status: 422, field: 'locale' })
  await requireNewLocale(tx, { set, locale })
  const [added] = await createTranslations(context, { source, locales: [locale], mode, userId: caller.userId })
  if (added === undefined) throw new Error('the translation was not stored')
  await recordAudit(tx, {
    workspaceId: set.workspace_id,
    actor: input.actor,
    entries: [
      {
        action: 'translation.added',
        document_set_id: set.id,
        source_document_id: source.id,
        target_document_id: added.id,
        locale,
        details: { create_mode: mode },
      },
    ],
  })
  return added
}

async function holdSourceOf(
  tx: Transaction,
  { set, caller }: { set: SetRow; caller: Caller },
): Promise<DocumentRow & { document_set_id: string }> {
  const workspaceIds = visibleWorkspaces(caller)
  const source = await holdSource(tx, { documentId: set.source_document_id, workspaceIds })
  if (source === null) throw new Refusal('source_document_missing', { details: { document_set_id: set.id } })
  // Deactivated meanwhile, and perhaps activated again.
  if (source.document_set_id !== set.id) throw new Refusal('localization_not_active')
  return { ...source, document_set_id: set.id }
}

async function requireNewLocale(tx: Transaction, { set, locale }: { set: SetRow; locale: string }): Promise<void> {
  const members = await documentsOfSets(tx, { workspaceId: set.workspace_id, documentSetIds: [set.id] })
  const existing = members.find((member) => member.locale === locale)
  if (existing === undefined) return
  throw new Refusal('locale_exists', { details: { locale, document_id: existing.id } })
}
