import { type Caller, visibleWorkspaces } from '../auth/caller.ts'
import { writtenBody } from '../body/content.ts'
import { initialDocument } from '../body/initial-document.ts'
import { bodyText } from '../body/queries.ts'
import { type FirstBody, storeDocuments } from '../body/store-documents.ts'
import type { Ahead } from '../computations/ahead.ts'
import type { Transaction } from '../database/database.ts'
import { type DeletionContext, deleteDocuments } from '../documents/deletion.ts'
import { claimDocumentIds, type DocumentRow, documentsOfSets, updateVariant } from '../documents/queries.ts'
import { maximumTranslationTitle } from '../documents/schema.ts'
import { Refusal } from '../errors/errors.ts'
import type { Jobs } from '../jobs/send.ts'
import { canonicalLocale } from '../locales/locale.ts'
import type { QuotaLimits } from '../quotas/quotas.ts'
import { newId } from '../schema/ids.ts'
import { type Actor, recordAudit } from './audit.ts'
import {
  announceMember,
  findWritable,
  findWritableSetOf,
  lockMember,
  lockSetSource,
  type MemberName,
  memberNamed,
} from './members.ts'
import type { SetRow } from './queries.ts'
import type { CreateMode, TranslationUpdateInput } from './schema.ts'
import { preparingCopies } from './structure-copies.ts'
import { insertTargets, mapCopies, putUnits } from './units/queries.ts'

/**
 * A context of a write that creates translations: the transaction, and the settings and queues that the write needs.
 */
export type CreateContext = { tx: Transaction; ahead: Ahead; jobs: Jobs; config: QuotaLimits }

/**
 * Adds a translation to the set of a document, which may be any member of the set. The source document is locked until
 * the transaction ends. So two calls that add the same locale wait for each other, and the second sees the translation
 * of the first. Refuses with 404 `document_not_found`, with 403 for a viewer, with 409 `localization_not_active`,
 * `source_document_missing`, `locale_exists` or `quota_exceeded`, and with 422 `invalid_locale`.
 */
export async function addTranslation(
  context: CreateContext,
  input: { caller: Caller; actor: Actor; documentId: string; locale: string; mode: CreateMode },
): Promise<DocumentRow> {
  const { tx } = context
  const { caller, mode } = input
  const { set } = await findWritableSetOf(tx, input)
  const source = await lockSourceOf(tx, { set, caller })
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

async function lockSourceOf(
  tx: Transaction,
  { set, caller }: { set: SetRow; caller: Caller },
): Promise<DocumentRow & { document_set_id: string }> {
  const workspaceIds = visibleWorkspaces(caller)
  const source = await lockSetSource(tx, { documentId: set.source_document_id, workspaceIds })
  if (source === null) throw new Refusal('source_document_missing', { details: { document_set_id: set.id } })
  // The set was deactivated after it was read. The document may already be the source of another set.
  if (source.document_set_id !== set.id) throw new Refusal('localization_not_active')
  return { ...source, document_set_id: set.id }
}

async function requireNewLocale(tx: Transaction, { set, locale }: { set: SetRow; locale: string }): Promise<void> {
  const members = await documentsOfSets(tx, { workspaceId: set.workspace_id, documentSetIds: [set.id] })
  const existing = members.find((member) => member.locale === locale)
  if (existing === undefined) return
  throw new Refusal('locale_exists', { details: { locale, document_id: existing.id } })
}

/**
 * A request for new translations that has the source document, which `lockSetSource` has locked. `locales` are
 * canonical locales, none of which the set has yet.
 */
type NewTranslations = {
  source: DocumentRow & { document_set_id: string }
  locales: readonly string[]
  mode: CreateMode
  userId: string
}

/**
 * Creates translations in the folder of their source document, in the order of the locales, with their units.
 * Attachments are not checked again: a copy may show an image of a missing attachment if the source document shows it.
 * Refuses with 409 `quota_exceeded`. Call the function at most once in a transaction, because it enqueues jobs.
 */
export async function createTranslations(
  context: CreateContext,
  input: NewTranslations,
): Promise<readonly DocumentRow[]> {
  const { tx, ahead } = context
  const { source, locales, mode } = input
  const workspaceId = source.workspace_id
  const text = await bodyText(tx, source)
  const prepared = { text, targets: locales.length, copied: mode !== 'blank' }
  const { units, copies } = await ahead.result(preparingCopies, prepared)
  const documents = locales.map((locale, index): FirstBody => {
    const content = copies[index]?.content ?? writtenBody(initialDocument('document'))
    return { document: newTranslation(input, locale), content }
  })
  await claimDocumentIds(tx, { workspaceId, ids: documents.map(({ document }) => document.id) })
  const rows = await storeDocuments(context, { workspaceId, documents })
  const targetIds = rows.map(({ id }) => id)
  await startUnits(tx, { source, targetIds, units, mapped: copies.map((copy) => copy.mapped) })
  return rows
}

function newTranslation({ source, mode, userId }: NewTranslations, locale: string): FirstBody['document'] {
  return {
    id: newId('doc'),
    knowledge_base_id: source.knowledge_base_id,
    folder_id: source.folder_id,
    title: [...source.title].slice(0, maximumTranslationTitle).join('').trimEnd(),
    document_type: source.document_type,
    heading_numbered: source.heading_numbered,
    background_color: source.background_color,
    collapsed_block_ids: [],
    tags: source.tags,
    properties: source.properties,
    document_set_id: source.document_set_id,
    locale,
    variant_role: 'translation',
    workflow_status: 'draft',
    translated_from_document_id: source.id,
    translated_from_version: mode === 'blank' ? null : source.version,
    created_by: userId,
  }
}

// Creates the units of new translations and maps them to the copied blocks. `mapped` is empty for blank bodies. The
// caller has locked the source document by `lockSetSource`, so no write changes its texts meanwhile.
async function startUnits(
  tx: Transaction,
  input: { source: DocumentRow; targetIds: readonly string[]; units: string; mapped: readonly string[] },
): Promise<void> {
  const { source, targetIds, units, mapped } = input
  if (targetIds.length === 0) return
  const workspaceId = source.workspace_id
  await insertTargets(tx, { workspaceId, sourceId: source.id, targetIds })
  await putUnits(tx, { workspaceId, targetIds, present: units })
  if (mapped.length > 0) await mapCopies(tx, { workspaceId, targetIds, mapped })
}

/**
 * Changes title or workflow status of a member of a set, which may be the source document. The last write wins. A write
 * that changes neither title nor workflow status records nothing. Refuses with 404 `document_not_found` or
 * `translation_not_found`, with 403 for a viewer and with 409 `localization_not_active`.
 */
export async function updateTranslation(
  context: { tx: Transaction; jobs: Jobs },
  input: {
    caller: Caller
    actor: Actor
    documentId: string
    name: MemberName
    update: TranslationUpdateInput
    /** Refuses a translation that is not as the caller expects it. */
    guard?: (translation: DocumentRow) => void
  },
): Promise<DocumentRow> {
  const { tx } = context
  const { caller, update } = input
  const { found, named } = await findWritable(tx, input, (members) => memberNamed(members, input.name))
  const before = await lockMember(tx, { caller, documentId: named.id })
  if (before === null || before.document_set_id !== found.set.id) {
    throw new Refusal('translation_not_found', { details: { id: named.id } })
  }
  input.guard?.(before)
  const title = update.title?.trim() ?? before.title
  const workflowStatus = update.workflow_status ?? before.workflow_status
  const retitled = title !== before.title
  if (!retitled && workflowStatus === before.workflow_status) return before
  const document = await updateVariant(tx, { document: before, title, workflowStatus, updatedBy: caller.userId })
  await recordAudit(tx, {
    workspaceId: document.workspace_id,
    actor: input.actor,
    entries: [
      {
        action: 'translation.updated',
        document_set_id: found.set.id,
        source_document_id: found.set.source_document_id,
        target_document_id: document.id,
        locale: document.locale,
        details: { title_changed: retitled, workflow_status: workflowStatus },
      },
    ],
  })
  await announceMember(context, { document, changes: retitled ? ['title'] : [] })
  return document
}

/**
 * Deletes a translation as any document is deleted, and returns its document id. Refuses with 404 `document_not_found`
 * or `translation_not_found`, with 403 for a viewer, and with 409 `localization_not_active` or `cannot_delete_source`.
 */
export async function deleteTranslation(
  context: DeletionContext,
  input: { documentId: string; name: MemberName },
): Promise<string> {
  const { tx, caller } = context
  const { found, named } = await findWritable(tx, { ...input, caller }, (members) => memberNamed(members, input.name))
  if (named.variant_role === 'source') {
    throw new Refusal('cannot_delete_source', { details: { document_set_id: found.set.id } })
  }
  const document = await lockMember(tx, { caller, documentId: named.id })
  if (document === null) throw new Refusal('translation_not_found', { details: { id: named.id } })
  await deleteDocuments(context, { workspaceId: document.workspace_id, documentIds: [document.id] })
  return document.id
}
