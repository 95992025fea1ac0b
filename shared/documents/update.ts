import { isDeepStrictEqual } from 'node:util'
import { type Caller, requireWriter, visibleWorkspaces } from '../auth/caller.ts'
import type { Transaction } from '../database/database.ts'
import { Refusal } from '../errors/errors.ts'
import { recordEvents } from '../events/record.ts'
import { documentsChanged, quietMs } from '../jobs/projections/changed.ts'
import type { DocumentChange, Jobs } from '../jobs/queues.ts'
import type { Place } from '../knowledge-bases/locations.ts'
import type { QuotaLimits } from '../quotas/quotas.ts'
import { codePoints } from '../schema/strings.ts'
import { type LocationInput, locateAgain, locateNamed } from './location.ts'
import { eventDocument } from './present.ts'
import { type DocumentMetadata, type DocumentRow, lockDocument, updateMetadata, visibleDocument } from './queries.ts'
import { maximumTranslationTitle } from './schema.ts'

/** The members of a PATCH; what is absent stays. */
export type MetadataInput = Partial<Omit<DocumentMetadata, 'knowledge_base_id' | 'folder_id'>> & LocationInput

type Context = { tx: Transaction; jobs: Jobs; config: QuotaLimits }

/**
 * Changes the metadata of a document. A change that leads to the same metadata is none: no event, no job, the same
 * `updated_at` (decisions 2.3). `guard` holds a precondition against the locked document. 400 for a title too long for a translation.
 */
export async function updateDocument(
  context: Context,
  input: {
    documentId: string
    caller: Caller
    metadata: MetadataInput
    guard: (document: DocumentRow) => Promise<void>
  },
): Promise<DocumentRow> {
  const { tx } = context
  const { caller, documentId } = input
  const named = await findDestination(context, input)
  const before = await lockDocument(tx, { documentId, workspaceIds: visibleWorkspaces(caller) })
  if (before === null) throw new Refusal('document_not_found', { details: { id: documentId } })
  requireFittingTitle(before, input.metadata.title)
  requireWriter(caller, before.workspace_id)
  await input.guard(before)
  const metadata = merge(before, { ...input.metadata, named })
  if (isDeepStrictEqual(metadata, metadataOf(before))) return before
  const document = await updateMetadata(tx, { document: before, metadata, updatedBy: caller.userId })
  await announce(context, before, document)
  return document
}

// Where a document goes is held before the document is locked, in the order in which deletions lock.
async function findDestination(
  context: Context,
  input: { documentId: string; caller: Caller; metadata: MetadataInput },
): Promise<Place | null> {
  const { caller, documentId, metadata } = input
  if (metadata.knowledge_base_id === undefined && (metadata.folder_id ?? null) === null) return null
  const document = await visibleDocument(context.tx, { documentId, workspaceIds: visibleWorkspaces(caller) })
  if (document === null) throw new Refusal('document_not_found', { details: { id: documentId } })
  return locateNamed({ ...context, caller }, metadata)
}

// Only where the document is known can a schema's 400 be told: translations have shorter titles than other documents.
function requireFittingTitle(document: DocumentRow, title: string | undefined): void {
  if (document.variant_role !== 'translation' || codePoints(title?.trim() ?? '') <= maximumTranslationTitle) return
  const message = `must be 1 to ${maximumTranslationTitle} characters in a translation`
  throw new Refusal('invalid_request', { details: { fields: [{ path: '/title', message }] } })
}

function merge(before: DocumentRow, input: MetadataInput & { named: Place | null }): DocumentMetadata {
  const { knowledge_base_id, folder_id, named, ...members } = input
  const place = locateAgain(before, { knowledge_base_id, folder_id, named })
  const given = Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
  return {
    ...metadataOf(before),
    ...given,
    ...(members.title !== undefined && { title: members.title.trim() }),
    knowledge_base_id: place.knowledge_base_id,
    folder_id: place.folder_id,
  }
}

function metadataOf(document: DocumentRow): DocumentMetadata {
  const { title, knowledge_base_id, folder_id, heading_numbered, background_color, collapsed_block_ids } = document
  return { title, knowledge_base_id, folder_id, heading_numbered, background_color, collapsed_block_ids }
}

async function announce(context: Context, before: DocumentRow, document: DocumentRow): Promise<void> {
  const [eventRowNo = 0] = await recordEvents(context.tx, {
    workspaceId: document.workspace_id,
    name: 'document.metadata.updated',
    documents: [eventDocument(document)],
  })
  const quiet = document.updated_at - before.updated_at > quietMs
  const changes: DocumentChange[] = [
    ...(before.title === document.title ? [] : (['title'] as const)),
    ...(before.knowledge_base_id === document.knowledge_base_id ? [] : (['location'] as const)),
  ]
  const documents = [{ id: document.id, eventRowNo, quiet }]
  await documentsChanged(context, { workspaceId: document.workspace_id, changes, documents })
}
