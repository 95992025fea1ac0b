import { type Caller, requireWriter, visibleWorkspaces } from '../auth/caller.ts'
import type { Transaction } from '../database/database.ts'
import { type DocumentRow, documentsOfSets, unlocalized, updateLocalization } from '../documents/queries.ts'
import { documentNotFound } from '../documents/require.ts'
import { Refusal } from '../errors/errors.ts'
import type { Jobs } from '../jobs/send.ts'
import { canonicalLocale } from '../locales/locale.ts'
import { newId } from '../schema/ids.ts'
import { type Actor, recordAudit } from './audit.ts'
import { announceMember, findWritableSetOf, lockMember, lockSetSource } from './members.ts'
import { deleteSet, insertSet, type SetRow } from './queries.ts'
import type { CreateMode } from './schema.ts'
import { type CreateContext, createTranslations } from './translations.ts'

/** A decoded request to activate localization, with the locales as the caller sent them. */
export type Activation = {
  source_locale: string
  target_locales?: readonly string[] | undefined
  create_mode?: CreateMode | undefined
}

/**
 * Makes a document the source of a new document set, creates its first translations and returns the id of the set. Two
 * activations of the same document wait for each other, and the second finds the set of the first. Refuses with 404
 * `document_not_found`, with 403 for a viewer, with 409 `localization_already_active` or `quota_exceeded`, and with 422
 * `invalid_locale` or `invalid_translation`.
 */
export async function activateLocalization(
  context: CreateContext,
  input: { caller: Caller; actor: Actor; documentId: string; activation: Activation },
): Promise<{ workspaceId: string; setId: string }> {
  const { tx } = context
  const { caller, documentId, activation } = input
  const document = await lockSetSource(tx, { documentId, workspaceIds: visibleWorkspaces(caller) })
  if (document === null) throw documentNotFound(documentId)
  requireWriter(caller, document.workspace_id)
  if (document.document_set_id !== null) {
    throw new Refusal('localization_already_active', { details: { document_set_id: document.document_set_id } })
  }
  const { source: sourceLocale, targets } = readLocales(activation)
  const mode = activation.create_mode ?? 'blank'
  const setId = newId('docset')
  const source = await enterSet(tx, { document, setId, locale: sourceLocale, userId: caller.userId })
  const rows = await createTranslations(context, { source, locales: targets, mode, userId: caller.userId })
  const activated = { action: 'set.activated', locale: sourceLocale, details: { target_locales: targets } } as const
  const added = rows.map(({ id, locale }) => {
    return { action: 'translation.added', target_document_id: id, locale, details: { create_mode: mode } } as const
  })
  const common = { document_set_id: setId, source_document_id: source.id }
  await recordAudit(tx, {
    workspaceId: source.workspace_id,
    actor: input.actor,
    entries: [activated, ...added].map((entry) => ({ ...common, ...entry })),
  })
  await announceMember(context, { document: source, changes: ['locale'] })
  return { workspaceId: source.workspace_id, setId }
}

async function enterSet(
  tx: Transaction,
  input: { document: DocumentRow; setId: string; locale: string; userId: string },
): Promise<DocumentRow & { document_set_id: string }> {
  const { document, setId, locale } = input
  await insertSet(tx, {
    workspace_id: document.workspace_id,
    id: setId,
    source_document_id: document.id,
    source_locale: locale,
    fallback_locale: locale,
  })
  const source = await updateLocalization(tx, {
    document,
    localization: {
      ...unlocalized,
      document_set_id: setId,
      locale,
      variant_role: 'source',
      workflow_status: 'draft',
    },
    updatedBy: input.userId,
  })
  return { ...source, document_set_id: setId }
}

function readLocales(activation: Activation): { source: string; targets: string[] } {
  const source = canonicalLocale(activation.source_locale, { status: 422, field: 'source_locale' })
  const targets = (activation.target_locales ?? []).map((locale, index) =>
    canonicalLocale(locale, { status: 422, field: `target_locales/${index}` }),
  )
  const fields = targets.flatMap((locale, index) => {
    const path = `/target_locales/${index}`
    if (locale === source) return [{ path, message: 'is the locale of the source' }]
    return targets.indexOf(locale) < index ? [{ path, message: 'is named twice' }] : []
  })
  if (fields.length > 0) throw new Refusal('invalid_translation', { details: { fields } })
  return { source, targets }
}

/**
 * Makes the source of a set without translations an ordinary document again, deletes the set with its audit and returns
 * the document. Refuses with 404 `document_not_found`, with 403 for a viewer, and with 409 `localization_not_active` or
 * `translations_exist`.
 */
export async function deactivateLocalization(
  context: { tx: Transaction; jobs: Jobs },
  input: { caller: Caller; documentId: string },
): Promise<DocumentRow> {
  const { tx } = context
  const { caller } = input
  const { set } = await findWritableSetOf(tx, input)
  // A translation is added only while its source document is locked. So no translation is added after this lock.
  const source = await lockMember(tx, { caller, documentId: set.source_document_id })
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
