import type { Caller } from '../auth/caller.ts'
import type { Transaction } from '../database.ts'
import { type LocationInput, locateNew } from '../documents/location.ts'
import { eventDocument } from '../documents/present.ts'
import { claimDocumentId, type DocumentRow, insertDocument } from '../documents/queries.ts'
import { Refusal } from '../errors.ts'
import { recordEvents } from '../events/record.ts'
import { newId } from '../ids.ts'
import { documentsChanged } from '../projections/changed.ts'
import type { Jobs } from '../queues.ts'
import { enforceQuota, type QuotaLimits } from '../quotas/enforce.ts'
import { documentToLines, textVersion } from './canonical.ts'
import { requireAttachments } from './commit.ts'
import type { DocNode, Warning } from './document.ts'
import { initialDocument } from './initial-document.ts'
import type { Normalised } from './normalise.ts'
import { insertBody } from './queries.ts'

/** The metadata of a new document; what is absent gets its default. */
export type NewDocumentInput = LocationInput & {
  title: string
  id?: string | undefined
  document_type?: 'document' | 'spreadsheet' | undefined
  heading_numbered?: boolean | undefined
  background_color?: string | null | undefined
  collapsed_block_ids?: string[] | undefined
}

type Context = { tx: Transaction; jobs: Jobs; config: QuotaLimits }

/**
 * Creates a document with its first body, which is no snapshot (decisions 2.5): row, body, event and jobs in the
 * caller's transaction. `content` is asked for after the checks that come before it: 404 of the location, 403, and 409
 * `document_id_conflict` for an id that was used before, ever, anywhere.
 */
export async function createDocument(
  context: Context,
  input: { caller: Caller; document: NewDocumentInput; content: () => Normalised<DocNode> | undefined },
): Promise<{ document: DocumentRow; warnings: Warning[] }> {
  const { tx } = context
  const { caller, document } = input
  const place = await locateNew({ ...context, caller }, document)
  const id = document.id ?? newId('doc')
  if (!(await claimDocumentId(tx, { id, workspaceId: place.workspace_id }))) {
    throw new Refusal('document_id_conflict', { details: { id } })
  }
  const type = document.document_type ?? 'document'
  const content = input.content() ?? initialDocument(type)
  requireAttachments(content.attachmentIds, null)
  const workspaceId = place.workspace_id
  await enforceQuota(context, { quota: 'documents', workspaceId, adding: 1 })
  const text = documentToLines(content.result).join('\n')
  const row = await insertDocument(tx, {
    workspace_id: workspaceId,
    id,
    knowledge_base_id: place.knowledge_base_id,
    folder_id: place.folder_id,
    title: document.title.trim(),
    document_type: type,
    heading_numbered: document.heading_numbered ?? false,
    background_color: document.background_color ?? null,
    collapsed_block_ids: document.collapsed_block_ids ?? [],
    version: textVersion(text),
    character_count: content.characters,
    node_count: content.nodes,
    created_by: caller.userId,
  })
  await insertBody(tx, { workspace_id: workspaceId, id, body_seq: 1, version: row.version, body: text })
  await announce(context, row)
  return { document: row, warnings: content.warnings }
}

async function announce(context: Context, document: DocumentRow): Promise<void> {
  const [eventRowNo = 0] = await recordEvents(context.tx, {
    workspaceId: document.workspace_id,
    name: 'document.created',
    documents: [eventDocument(document)],
  })
  await documentsChanged(context, {
    workspaceId: document.workspace_id,
    changes: ['body'],
    documents: [{ id: document.id, eventRowNo, quiet: true }],
  })
}
