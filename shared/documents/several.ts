import { type Caller, requireWriter, visibleWorkspaces } from '../auth/caller.ts'
import type { Transaction } from '../database/database.ts'
import { Refusal } from '../errors/errors.ts'
import { recordEvents } from '../events/record.ts'
import { isQuiet, markStale } from '../jobs/projections/stale.ts'
import type { Jobs } from '../jobs/send.ts'
import type { Location } from '../knowledge-bases/locations.ts'
import type { QuotaLimits } from '../quotas/quotas.ts'
import { type DeletionContext, deleteLocked } from './deletion.ts'
import { type LocationInput, locateNamed } from './location.ts'
import { eventDocument } from './present.ts'
import type { DocumentRow } from './queries.ts'
import { lockPlaces, lockVisibleDocuments, relocateDocuments } from './several-queries.ts'

type MoveContext = { tx: Transaction; jobs: Jobs; config: QuotaLimits; caller: Caller }

/**
 * Moves documents to one location, all of them or none. A document that is there already keeps its `updated_at` and has
 * no event. Refuses with 400 when `to` names no location or contradicts itself, with 404 when the caller cannot see the
 * location, and with 403 when the caller may not write there. Refuses with 400 `cross_workspace_move` when a document
 * is in another workspace, and with 422 `documents_unavailable` when a document is not visible. Returns the workspace
 * of the documents.
 */
export async function moveDocuments(
  context: MoveContext,
  input: { documentIds: readonly string[]; to: LocationInput },
): Promise<{ workspaceId: string }> {
  const { tx, caller } = context
  // The location is locked before the documents, as by every other move and by deletions.
  const location = await locateNamed(context, input.to)
  if (location === null) throw withoutLocation()
  const documents = await lockVisibleDocuments(tx, { ...input, workspaceIds: visibleWorkspaces(caller) })
  if (documents.some(({ workspace_id }) => workspace_id !== location.workspace_id)) {
    throw new Refusal('cross_workspace_move')
  }
  requireAll(input.documentIds, documents)
  const elsewhere = documents.filter((document) => !isAt(document, location))
  const documentIds = elsewhere.map(({ id }) => id)
  lockPlaces(tx, { workspaceId: location.workspace_id, documentIds })
  const moved = await relocateDocuments(tx, { location, documentIds, updatedBy: caller.userId })
  await announce(context, { before: elsewhere, moved, location })
  return { workspaceId: location.workspace_id }
}

/**
 * Deletes documents, all of them or none, and returns the workspaces that they were in. Refuses with 403 when the
 * caller is a viewer of such a workspace, and with 422 `documents_unavailable` when a document is not visible. `guard`
 * looks at the locked documents, and throws when they may not be deleted.
 */
export async function deleteSeveral(
  context: DeletionContext,
  { documentIds, guard }: { documentIds: readonly string[]; guard?: (documents: readonly DocumentRow[]) => void },
): Promise<string[]> {
  const { tx, caller } = context
  const documents = await lockVisibleDocuments(tx, { documentIds, workspaceIds: visibleWorkspaces(caller) })
  const byWorkspace = Map.groupBy(documents, ({ workspace_id }) => workspace_id)
  for (const workspaceId of byWorkspace.keys()) requireWriter(caller, workspaceId)
  requireAll(documentIds, documents)
  guard?.(documents)
  // All deletions take the locks of their consequences in one order of the workspaces. So no two of them can wait for
  // each other.
  const workspaceIds = [...byWorkspace.keys()].sort()
  for (const workspaceId of workspaceIds) {
    const ofWorkspace = byWorkspace.get(workspaceId) ?? []
    lockPlaces(tx, { workspaceId, documentIds: ofWorkspace.map(({ id }) => id) })
    await deleteLocked(context, { workspaceId, documents: ofWorkspace })
  }
  return workspaceIds
}

function withoutLocation(): Refusal {
  const message = 'is required unless folder_id names a folder'
  return new Refusal('invalid_request', { details: { fields: [{ path: '/knowledge_base_id', message }] } })
}

function requireAll(documentIds: readonly string[], documents: readonly DocumentRow[]): void {
  const found = new Set(documents.map(({ id }) => id))
  const ids = [...new Set(documentIds)].filter((id) => !found.has(id))
  if (ids.length > 0) throw new Refusal('documents_unavailable', { details: { ids } })
}

function isAt(document: DocumentRow, { knowledge_base_id, folder_id }: Location): boolean {
  return document.knowledge_base_id === knowledge_base_id && document.folder_id === folder_id
}

// Documents have one order, by id, in `before` and `moved`. Only a move to another knowledge base makes projections
// stale.
async function announce(
  context: MoveContext,
  { before, moved, location }: { before: readonly DocumentRow[]; moved: readonly DocumentRow[]; location: Location },
): Promise<void> {
  const rowNos = await recordEvents(context.tx, {
    workspaceId: location.workspace_id,
    name: 'document.metadata.updated',
    documents: moved.map(eventDocument),
  })
  const changed = moved.flatMap((document, index) => {
    const earlier = before[index] as DocumentRow
    if (earlier.knowledge_base_id === document.knowledge_base_id) return []
    return [{ id: document.id, eventRowNo: rowNos[index] ?? 0, quiet: isQuiet(earlier, document) }]
  })
  await markStale(context, { workspaceId: location.workspace_id, changes: ['location'], documents: changed })
}
