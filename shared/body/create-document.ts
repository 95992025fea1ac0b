import type { Caller } from '../auth/caller.ts'
import type { Config } from '../config/config.ts'
import type { Transaction } from '../database/database.ts'
import { type LocationInput, locateNew } from '../documents/location.ts'
import type { Properties } from '../documents/metadata.ts'
import { claimDocumentIds, type DocumentRow, unlocalized } from '../documents/queries.ts'
import { Refusal } from '../errors/errors.ts'
import type { Jobs } from '../jobs/send.ts'
import type { Location } from '../knowledge-bases/locations.ts'
import type { QuotaLimits } from '../quotas/quotas.ts'
import { newId } from '../schema/ids.ts'
import { requireAttachments } from './attachment-references.ts'
import { type WrittenBody, writtenBody } from './content.ts'
import type { Warning } from './document.ts'
import { initialDocument } from './initial-document.ts'
import { storeDocuments } from './store-documents.ts'

/** A set of metadata that a new document begins with. An absent member gets its default. */
export type NewDocumentInput = LocationInput & {
  title: string
  id?: string | undefined
  document_type?: 'document' | 'spreadsheet' | undefined
  heading_numbered?: boolean | undefined
  background_color?: string | null | undefined
  collapsed_block_ids?: string[] | undefined
  tags?: string[] | undefined
  properties?: Properties | undefined
}

type Context = { tx: Transaction; jobs: Jobs; config: QuotaLimits & Pick<Config, 'DOCUMENT_MAX_BYTES'> }

/**
 * Creates a document with its first body in the caller's transaction: row, body, event and jobs. The first body is not
 * kept as a snapshot. `content` makes the first body; without a result the document gets the initial body of its type.
 * Before `content` is called, the function refuses with 404 an unknown location, and with 403 a caller who may not
 * write there. It also refuses with 409 `document_id_conflict` an id that some workspace has used before. After
 * `content`, the function refuses with 422 `attachment_not_found` or `document_too_large`, and with 409
 * `quota_exceeded`.
 */
export async function createDocument(
  context: Context,
  input: { caller: Caller; document: NewDocumentInput; content: () => Promise<WrittenBody> | undefined },
): Promise<{ document: DocumentRow; warnings: Warning[] }> {
  const { tx } = context
  const { caller, document } = input
  const place = await locateNew({ ...context, caller }, document)
  const id = document.id ?? newId('doc')
  const claimed = await claimDocumentIds(tx, { ids: [id], workspaceId: place.workspace_id })
  if (!claimed) throw new Refusal('document_id_conflict', { details: { id } })
  const content = (await input.content()) ?? writtenBody(initialDocument(document.document_type ?? 'document'))
  const [row] = await store(context, { caller, place, documents: [{ id, document, content }] })
  if (row === undefined) throw new Error('the document was not stored')
  return { document: row, warnings: content.warnings }
}

/**
 * Creates documents with these first bodies at one location, all of them or none. Refuses as `createDocument` does.
 */
export async function createDocuments(
  context: Context,
  input: { caller: Caller; location: LocationInput; documents: readonly Omit<NewDocument, 'id'>[] },
): Promise<readonly DocumentRow[]> {
  const { caller } = input
  const place = await locateNew({ ...context, caller }, input.location)
  const documents = input.documents.map((document) => ({ ...document, id: newId('doc') }))
  const ids = documents.map(({ id }) => id)
  await claimDocumentIds(context.tx, { ids, workspaceId: place.workspace_id })
  return store(context, { caller, place, documents })
}

/** A document that is ready to be stored under its id. Its location was found before. */
type NewDocument = { id: string; document: Omit<NewDocumentInput, 'id' | keyof LocationInput>; content: WrittenBody }

async function store(
  context: Context,
  input: { caller: Caller; place: Location; documents: readonly NewDocument[] },
): Promise<readonly DocumentRow[]> {
  const { caller, place, documents } = input
  const workspaceId = place.workspace_id
  const named = new Map(documents.flatMap(({ content }) => [...content.attachments]))
  await requireAttachments(context.tx, { workspaceId, ids: named.keys(), named })
  return storeDocuments(context, {
    workspaceId,
    byteLimit: context.config.DOCUMENT_MAX_BYTES,
    documents: documents.map(({ id, document, content }) => ({
      document: {
        ...unlocalized,
        id,
        knowledge_base_id: place.knowledge_base_id,
        folder_id: place.folder_id,
        title: document.title.trim(),
        document_type: document.document_type ?? 'document',
        heading_numbered: document.heading_numbered ?? false,
        background_color: document.background_color ?? null,
        collapsed_block_ids: document.collapsed_block_ids ?? [],
        tags: document.tags ?? [],
        properties: document.properties ?? {},
        created_by: caller.userId,
      },
      content,
    })),
  })
}
