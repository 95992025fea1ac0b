import type { Caller } from '../auth/caller.ts'
import type { Ahead } from '../computations/ahead.ts'
import type { Config } from '../config/config.ts'
import { type Transaction, withLimitsOf } from '../database/database.ts'
import { eventDocument } from '../documents/present.ts'
import { type DocumentRow, lockDocuments } from '../documents/queries.ts'
import { Refusal } from '../errors/errors.ts'
import { recordEvents } from '../events/record.ts'
import { markStale } from '../jobs/projections/stale.ts'
import type { Jobs } from '../jobs/send.ts'
import { type FolderRow, visibleFolder } from '../knowledge-bases/folders.ts'
import type { Location } from '../knowledge-bases/locations.ts'
import { type KnowledgeBaseRow, visibleKnowledgeBase } from '../knowledge-bases/queries.ts'
import { lockSets } from '../localization/queries.ts'
import { expectRoom, makeRoom, type QuotaLimits } from '../quotas/quotas.ts'
import { type TrashEntryRow, trashNotFound } from './entries.ts'
import { lockForRestoration } from './entry-locks.ts'
import type { KeptTable } from './kept-table.ts'
import { lockPlace, type PlaceInput } from './place.ts'
import * as queries from './queries.ts'
import { lockEndsOfPairs, restorePairs } from './restore-pairs.ts'

/** The context of a restoration. `kept` lists the tables of which the trash has rows. */
export type RestorationContext = {
  tx: Transaction
  ahead: Ahead
  jobs: Jobs
  caller: Caller
  config: QuotaLimits & Pick<Config, 'QUOTA_ATTACHMENT_BYTES' | 'ATTACHMENT_MAX_BYTES'>
  consequences: { kept: readonly KeptTable[] }
}

/** What was restored from an entry. `notRestored` names what was deleted with it and does not come back. */
export type Restored = { entry: TrashEntryRow; notRestored: readonly string[] } & (
  | { type: 'document'; document: DocumentRow }
  | { type: 'folder'; folder: FolderRow }
  | { type: 'knowledge_base'; knowledgeBase: KnowledgeBaseRow }
)

/** The step of a restoration that its helpers work on: the locked entry and its contents. */
type Restoration = { entry: TrashEntryRow; contents: queries.Contents; place: Location | null }

/**
 * Restores an entry of the trash: everything comes back with the same ids, a `document.created` event for each
 * document, and jobs for all that is derived. The entry is gone afterwards. Refuses with 404 `trash_not_found` when
 * somebody else was faster, and as `lockPlace` does. Refuses with 409 `locale_exists` when a document set has another
 * document for a locale by now, and with 409 `quota_exceeded`. Call the function once in a transaction, as the last
 * step, because it enqueues jobs.
 *
 * The order of locks is: entries, knowledge base, existing documents, document sets. Restored rows are locked by their
 * insertion.
 */
export function restoreEntry(
  context: RestorationContext,
  { entry, location }: { entry: TrashEntryRow; location: PlaceInput },
): Promise<Restored> {
  const { tx, caller } = context
  return withLimitsOf(tx, 'whole', async () => {
    if (!(await lockForRestoration(tx, entry))) throw trashNotFound(entry.id)
    const place = await lockPlace(tx, { caller, entry, place: location })
    const contents = await queries.contentsOf(tx, entry)
    const restoration = { entry, contents, place }
    const left = await rejoinSets(tx, restoration)
    const additions = additionsOf(context, restoration)
    for (const addition of additions) await expectRoom(tx, addition)
    if (place !== null) placeRoot(context, { ...restoration, place })
    queries.fetchRelations(tx, entry)
    await restoreRows(context, restoration)
    const dropsUnits = await restorePairs(context, { entry, contents, left })
    await announce(context, restoration)
    // The check of a quota may lock out everybody else who creates something in the workspace. So it comes last.
    for (const addition of additions) await makeRoom(tx, { ...addition, stored: true })
    queries.deleteEntry(tx, entry)
    const notRestored = [
      ...entry.not_restored,
      ...(left.length > 0 ? ['document_set'] : []),
      ...(dropsUnits ? ['translation_units'] : []),
    ]
    return { entry, notRestored, ...(await restoredRoot(tx, entry)) }
  })
}

// Locks the document sets of the documents, which then change no more. Documents whose set was deleted meanwhile come
// back as ordinary documents; returns their ids.
async function rejoinSets(tx: Transaction, { entry, contents }: Restoration): Promise<readonly string[]> {
  const { set_ids: setIds } = contents
  if (setIds.length === 0) return []
  const workspaceId = entry.workspace_id
  await lockEndsOfPairs(tx, entry, () => lockSets(tx, { workspaceId, setIds }))
  const left = await queries.leaveMissingSets(tx, entry)
  const taken = await queries.takenLocale(tx, entry)
  if (taken !== null) throw new Refusal('locale_exists', { details: taken })
  return left
}

// A document or folder that comes back to another place has changed, as if it had been moved. When this place is in
// another knowledge base, so has everything in the folder.
function movedMembers({ caller }: RestorationContext, { contents, place }: Restoration) {
  const folders = { knowledge_base_id: place?.knowledge_base_id, updated_at: contents.read_at }
  return { folders, documents: { ...folders, updated_by: caller.userId } }
}

// Under another parent, a key in the manual order says nothing, so the key of a folder goes. A trigger clears the key
// of a document.
function placeRoot(context: RestorationContext, restoration: Restoration & { place: Location }): void {
  const { entry, place } = restoration
  const isSameBase = place.knowledge_base_id === entry.knowledge_base_id
  const isSameFolder = place.folder_id === entry.parent_folder_id
  const isSameParent = isSameFolder && (isSameBase || place.folder_id !== null)
  const isFolder = entry.type === 'folder'
  const moved = movedMembers(context, restoration)[isFolder ? 'folders' : 'documents']
  const members = { ...(!(isSameBase && isSameFolder) && moved), ...(isFolder && !isSameParent && { order_key: null }) }
  queries.placeRoot(context.tx, entry, { place, members })
}

async function restoreRows(context: RestorationContext, restoration: Restoration): Promise<void> {
  const { tx, consequences } = context
  const { entry, place } = restoration
  const tables = consequences.kept.filter((kept) => !('ofTranslation' in kept))
  const isSame = place === null || place.knowledge_base_id === entry.knowledge_base_id
  const places: queries.Places = isSame ? {} : movedMembers(context, restoration)
  while (await queries.restoreSlice(tx, { key: entry, tables, places }));
}

type Addition = Parameters<typeof makeRoom>[1]

// What the contents of an entry add to the quotas of the workspace.
function additionsOf({ config }: RestorationContext, { entry, contents }: Restoration): Addition[] {
  const { document_ids: documentIds, folders, attachment_bytes: bytes } = contents
  const { workspace_id: workspaceId } = entry
  const knowledgeBases = entry.type === 'knowledge_base' ? 1 : 0
  const largest = Math.max(bytes, config.ATTACHMENT_MAX_BYTES)
  const additions: Addition[] = [
    { workspaceId, quota: 'knowledge_bases', limit: config.QUOTA_KNOWLEDGE_BASES, adding: knowledgeBases },
    { workspaceId, quota: 'folders', limit: config.QUOTA_FOLDERS, adding: folders },
    { workspaceId, quota: 'documents', limit: config.QUOTA_DOCUMENTS, adding: documentIds.length },
    { workspaceId, quota: 'attachment_bytes', limit: config.QUOTA_ATTACHMENT_BYTES, adding: bytes, largest },
  ]
  return additions.filter(({ adding }) => adding > 0)
}

// How many documents one statement announces.
const sliceDocuments = 500

async function announce(context: RestorationContext, { entry, contents }: Restoration): Promise<void> {
  const { tx } = context
  const { workspace_id: workspaceId } = entry
  for (let from = 0; from < contents.document_ids.length; from += sliceDocuments) {
    const documentIds = contents.document_ids.slice(from, from + sliceDocuments)
    const documents = await lockDocuments(tx, { workspaceId, documentIds })
    if (documents.length < documentIds.length) throw new Error(`documents of ${entry.id} were not restored`)
    const recorded = documents.map(eventDocument)
    const rowNos = await recordEvents(tx, { workspaceId, name: 'document.created', documents: recorded })
    await markStale(context, {
      workspaceId,
      changes: ['body'],
      documents: documents.map(({ id }, index) => ({ id, eventRowNo: rowNos[index] ?? 0, quiet: true })),
    })
  }
}

async function restoredRoot(tx: Transaction, entry: TrashEntryRow) {
  const workspaceIds = [entry.workspace_id]
  if (entry.document_id !== null) {
    const [document] = await lockDocuments(tx, { workspaceId: entry.workspace_id, documentIds: [entry.document_id] })
    if (document !== undefined) return { type: 'document' as const, document }
  }
  if (entry.folder_id !== null) {
    const folder = await visibleFolder(tx, { id: entry.folder_id, workspaceIds })
    if (folder !== null) return { type: 'folder' as const, folder }
  }
  const knowledgeBase = await visibleKnowledgeBase(tx, { id: entry.knowledge_base_id, workspaceIds })
  if (entry.type === 'knowledge_base' && knowledgeBase !== null) {
    return { type: 'knowledge_base' as const, knowledgeBase }
  }
  throw new Error(`the trash has no row of ${entry.id}`)
}
