import { isDeepStrictEqual } from 'node:util'
import { type Caller, requireWriter } from '../auth/caller.ts'
import type { Transaction } from '../database/database.ts'
import { markLocks, releaseLocks } from '../database/locks.ts'
import { Refusal } from '../errors/errors.ts'
import { recordEvents } from '../events/record.ts'
import { isQuiet, markStale } from '../jobs/projections/stale.ts'
import type { DocumentChange } from '../jobs/queues.ts'
import type { Jobs } from '../jobs/send.ts'
import type { Location } from '../knowledge-bases/locations.ts'
import type { Position } from '../knowledge-bases/order.ts'
import { makePlace, takePlace } from '../knowledge-bases/placement.ts'
import { lockStructure } from '../knowledge-bases/queries.ts'
import type { QuotaLimits } from '../quotas/quotas.ts'
import { codePoints } from '../schema/code-points.ts'
import { type LocationInput, locateAgain, locateNamed } from './location.ts'
import { type PropertiesPatch, patchedProperties, patchedTags, storedTags, type TagsPatch, tagKey } from './metadata.ts'
import { requireReference } from './order.ts'
import { eventDocument } from './present.ts'
import { type DocumentMetadata, type DocumentRow, updateMetadata } from './queries.ts'
import { requireDocument, requireLockedDocument } from './require.ts'
import { maximumTranslationTitle } from './schema.ts'

/** The members of a PATCH; absent members stay as they are. */
export type MetadataInput = Partial<Omit<DocumentMetadata, 'knowledge_base_id' | 'folder_id'>> &
  LocationInput & {
    position?: Position | undefined
    tags_patch?: TagsPatch | undefined
    properties_patch?: PropertiesPatch | undefined
  }

type UpdateRequest = {
  documentId: string
  caller: Caller
  metadata: MetadataInput
  guard: (document: DocumentRow) => Promise<void>
}

type Context = { tx: Transaction; jobs: Jobs; config: QuotaLimits }

/**
 * Changes the metadata of a document. A write that leaves the metadata the same has no event and no job, and keeps
 * `updated_at`; a position in the manual order is no metadata. `guard` checks a precondition against the locked
 * document and throws when the document fails it. Refuses with 404 `document_not_found`, with 403 when the caller is a
 * viewer, and with 400 when the title is too long for a translation. Refuses tags and properties with 400 when they
 * come as a whole and as a patch, or exceed a limit. Refuses a new location with 404 when the caller cannot see it, and
 * with 403 when the caller may not write there. Refuses a location with 400 when it is in another workspace, or when
 * its folder and knowledge base contradict each other. Refuses a position with 404 when the caller cannot see what it
 * refers to, and with 422 `invalid_position` when that is no document of the same parent.
 */
export async function updateDocument(context: Context, input: UpdateRequest): Promise<DocumentRow> {
  const { tx } = context
  const { caller } = input
  const { position, tags, tags_patch } = input.metadata
  requireOneChange(input.metadata)
  if ((position ?? tags ?? tags_patch) !== undefined) await markLocks(tx)
  const { before, named } = await lockAll(context, input)
  requireFittingTitle(before, input.metadata.title)
  requireWriter(caller, before.workspace_id)
  await input.guard(before)
  const metadata = merge(before, { ...input.metadata, named })
  const isSame = isDeepStrictEqual(metadata, metadataOf(before))
  const parent = { ...metadata, workspace_id: before.workspace_id }
  const placement = position && ({ kind: 'documents', parent, moved: before.id, position } as const)
  const key = placement && (await makePlace(tx, placement))
  const document = isSame ? before : await updateMetadata(tx, { document: before, metadata, updatedBy: caller.userId })
  if (placement && key) await takePlace(tx, placement, key)
  if (!isSame) await announce(context, before, document)
  return document
}

function requireOneChange(metadata: MetadataInput): void {
  for (const name of ['tags', 'properties'] as const) {
    if (metadata[name] === undefined || metadata[`${name}_patch`] === undefined) continue
    const message = `must be absent beside ${name}`
    throw new Refusal('invalid_request', { details: { fields: [{ path: `/${name}_patch`, message }] } })
  }
}

// Locks the location that the PATCH names, the structure around the place that the PATCH asks for, and the document.
// When the document has moved before it was locked, the place is elsewhere, and all locks are taken anew.
async function lockAll(
  context: Context,
  input: UpdateRequest,
): Promise<{ before: DocumentRow; named: Location | null }> {
  const { tx } = context
  const named = await findDestination(context, input)
  const parent = await lockParent(tx, { ...input, named })
  const before = await requireLockedDocument(tx, input)
  if (parent === null || isAt(parent, locateAgain(before, { ...input.metadata, named }))) return { before, named }
  await releaseLocks(tx)
  return lockAll(context, input)
}

// Locks the structure of the knowledge base in which the document will be, and returns the place in it: with a position
// for the order of the documents beside the document, with new tags so that no tag is renamed meanwhile. Else null.
async function lockParent(
  tx: Transaction,
  { caller, documentId, metadata, named }: UpdateRequest & { named: Location | null },
): Promise<Location | null> {
  const { position, tags = metadata.tags_patch?.add ?? [] } = metadata
  if (position === undefined && tags.length === 0) return null
  const seen = await requireDocument(tx, { caller, documentId })
  if (position !== undefined) await requireReference(tx, { caller, position })
  requireWriter(caller, seen.workspace_id)
  const parent = locateAgain(seen, { ...metadata, named })
  await lockStructure(tx, {
    workspaceId: parent.workspace_id,
    knowledgeBaseIds: [parent.knowledge_base_id],
    mode: position === undefined ? 'add' : 'rearrange',
  })
  return parent
}

function isAt(parent: Location, document: Pick<DocumentRow, 'knowledge_base_id' | 'folder_id'>): boolean {
  return parent.knowledge_base_id === document.knowledge_base_id && parent.folder_id === document.folder_id
}

// Deletions lock the location before the document. A move does so in the same order, since the opposite order could end
// in a deadlock.
async function findDestination(
  context: Context,
  input: { documentId: string; caller: Caller; metadata: MetadataInput },
): Promise<Location | null> {
  const { caller, metadata } = input
  if (metadata.knowledge_base_id === undefined && (metadata.folder_id ?? null) === null) return null
  await requireDocument(context.tx, input)
  return locateNamed({ ...context, caller }, metadata)
}

// The schema cannot refuse such a title, because only the stored document says whether it is a translation.
function requireFittingTitle(document: DocumentRow, title: string | undefined): void {
  if (document.variant_role !== 'translation' || codePoints(title?.trim() ?? '') <= maximumTranslationTitle) return
  const message = `must be 1 to ${maximumTranslationTitle} characters in a translation`
  throw new Refusal('invalid_request', { details: { fields: [{ path: '/title', message }] } })
}

function merge(before: DocumentRow, input: MetadataInput & { named: Location | null }): DocumentMetadata {
  const { knowledge_base_id, folder_id, named, position: _position, tags_patch, properties_patch, ...members } = input
  const tags = tags_patch === undefined ? input.tags : patchedTags(before.tags, tags_patch)
  const location = locateAgain(before, { knowledge_base_id, folder_id, named })
  const given = Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
  return {
    ...metadataOf(before),
    ...given,
    ...(members.title !== undefined && { title: members.title.trim() }),
    tags: tags === undefined || areSameTags(before.tags, tags) ? before.tags : tags,
    ...(properties_patch !== undefined && { properties: patchedProperties(before.properties, properties_patch) }),
    knowledge_base_id: location.knowledge_base_id,
    folder_id: location.folder_id,
  }
}

// Tags that differ only in case are the same: the document keeps them as the knowledge base spells them.
function areSameTags(stored: readonly string[], given: readonly string[]): boolean {
  return isDeepStrictEqual(stored.map(tagKey), storedTags(given).tag_keys)
}

function metadataOf(document: DocumentRow): DocumentMetadata {
  const { title, knowledge_base_id, folder_id, heading_numbered, background_color, collapsed_block_ids } = document
  const { tags, properties } = document
  return {
    title,
    knowledge_base_id,
    folder_id,
    heading_numbered,
    background_color,
    collapsed_block_ids,
    tags,
    properties,
  }
}

async function announce(context: Context, before: DocumentRow, document: DocumentRow): Promise<void> {
  const [eventRowNo = 0] = await recordEvents(context.tx, {
    workspaceId: document.workspace_id,
    name: 'document.metadata.updated',
    documents: [eventDocument(document)],
  })
  const quiet = isQuiet(before, document)
  const changes: DocumentChange[] = [
    ...(before.title === document.title ? [] : (['title'] as const)),
    ...(before.knowledge_base_id === document.knowledge_base_id ? [] : (['location'] as const)),
  ]
  const documents = [{ id: document.id, eventRowNo, quiet }]
  await markStale(context, { workspaceId: document.workspace_id, changes, documents })
}
