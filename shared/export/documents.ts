import { type AttachmentRow, attachmentsOfDocuments } from '../attachments/queries.ts'
import { type FileStore, openBytes } from '../attachments/store.ts'
import { attachmentSrc } from '../body/addresses.ts'
import type { Queryable } from '../database/database.ts'
import type { KnowledgeBaseKey, KnowledgeBaseRow } from '../knowledge-bases/queries.ts'
import type { Logger } from '../process/log.ts'
import type { Archive } from './archive.ts'
import { exportedMarkdown } from './markdown.ts'
import { addressBetween } from './names.ts'
import { attachmentPath, type Paths } from './paths.ts'
import { currentBodies, type DocumentSize, exportFiles, exportSizes, exportTargets } from './queries.ts'

/** The number of documents whose sizes are read at a time. */
const pageSize = 500

/** The bytes of bodies in memory at a time; a larger body comes alone. */
const batchBytes = 1 << 20

/** The snapshot and the store that an export reads, the archive that it writes, and the paths in the archive. */
type DocumentsContext = {
  snapshot: Queryable
  archive: Archive
  /** The store of attachment files, or null to leave the files out. */
  files: FileStore | null
  log: Logger
  paths: Paths
  /** Collects the ids of attachments whose files cannot be opened. */
  unreadable: Set<string>
}

/** Writes the stored body of each document, the body as Markdown with anchors and front matter, and the attachments. */
export async function writeDocuments(context: DocumentsContext, knowledgeBase: KnowledgeBaseRow): Promise<void> {
  const key = { workspaceId: knowledgeBase.workspace_id, id: knowledgeBase.id }
  for (let after = ''; ; ) {
    const page = await exportSizes(context.snapshot, { ...key, after, limit: pageSize })
    for (const batch of batches(page)) {
      await writeBodies(context, { batch, key })
      const documentIds = batch.map(({ id }) => id)
      await writeAttachments(context, { workspaceId: key.workspaceId, documentIds })
    }
    const last = page.at(-1)
    if (last === undefined || page.length < pageSize) return
    after = last.id
  }
}

function* batches(page: readonly DocumentSize[]): Generator<DocumentSize[]> {
  let batch: DocumentSize[] = []
  let bytes = 0
  for (const document of page) {
    if (batch.length > 0 && bytes + document.size > batchBytes) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(document)
    bytes += document.size
  }
  if (batch.length > 0) yield batch
}

async function writeBodies(
  context: DocumentsContext,
  { batch, key }: { batch: readonly DocumentSize[]; key: KnowledgeBaseKey },
): Promise<void> {
  const { snapshot, archive, paths, log } = context
  const documentIds = batch.map(({ id }) => id)
  const rows = await currentBodies(snapshot, { workspaceId: key.workspaceId, documentIds })
  const named = await namedPaths(context, { key, bodies: rows.map(({ body }) => body) })
  const contents = new Map(rows.map(({ id, body, ...labels }) => [id, { text: body, labels }]))
  for (const document of batch) {
    const content = contents.get(document.id)
    if (content === undefined) throw new Error(`the body of ${document.id} is missing`)
    const modified = new Date(document.updated_at)
    await archive.add(paths.json(document), json(content.text), { modified })
    const path = paths.markdown(document)
    const files = Object.fromEntries(
      addressesIn(content.text).flatMap((address) => {
        const target = named.get(address)
        return target === undefined ? [] : [[address, addressBetween(path, target)]]
      }),
    )
    const markdown = await exportedMarkdown({ log }, { id: document.id, ...content, files })
    await archive.add(path, Buffer.from(markdown), { modified })
  }
}

// The paths of the documents and attachments that bodies name, by their addresses. What is not in the archive has none.
async function namedPaths(
  { snapshot, paths, files }: DocumentsContext,
  { key, bodies }: { key: KnowledgeBaseKey; bodies: readonly string[] },
): Promise<Map<string, string>> {
  const addresses = [...new Set(bodies.flatMap(addressesIn))]
  const idsOf = (start: string) => addresses.flatMap((one) => (one.startsWith(start) ? [one.slice(start.length)] : []))
  const [documentIds, attachmentIds] = [idsOf(documentStart), files === null ? [] : idsOf(attachmentSrc(''))]
  const targets = documentIds.length === 0 ? [] : await exportTargets(snapshot, { ...key, documentIds })
  const attachments = attachmentIds.length === 0 ? [] : await exportFiles(snapshot, { ...key, attachmentIds })
  return new Map([
    ...targets.map((target) => [documentStart + target.id, paths.markdown(target)] as const),
    ...attachments.map((attachment) => [attachmentSrc(attachment.id), attachmentPath(attachment)] as const),
  ])
}

const documentStart = 'svc://doc/'

function addressesIn(body: string): string[] {
  return [...new Set(body.match(/svc:\/\/doc\/[A-Za-z0-9_-]{1,200}|\/api\/v1\/attachments\/att_[0-9A-Z]{26}/g))]
}

// The stored text has one top-level block a line, so a line end becomes a comma.
function json(text: string): Buffer {
  return Buffer.from(`{"type":"doc","content":[\n${text.replaceAll('\n', ',\n')}\n]}\n`)
}

// Writes the attachments of documents, unless the export leaves files out.
async function writeAttachments(
  context: DocumentsContext,
  documents: { workspaceId: string; documentIds: readonly string[] },
): Promise<void> {
  const { files } = context
  if (files === null) return
  for (const row of await attachmentsOfDocuments(context.snapshot, documents))
    await writeFile({ ...context, files }, row)
}

// The snapshot still shows an attachment that was deleted meanwhile, but its file is gone: the export goes on without
// it.
async function writeFile(
  { archive, files, log, unreadable }: DocumentsContext & { files: FileStore },
  row: AttachmentRow,
): Promise<void> {
  const bytes = await openBytes(files, row).catch((error: unknown) => {
    unreadable.add(row.id)
    log.warn({ err: error, attachment_id: row.id }, 'an export goes on without a file')
    return null
  })
  if (bytes === null) return
  const compress = !isCompressed(row.content_type)
  await archive.add(attachmentPath(row), bytes, { modified: new Date(row.created_at), compress })
}

function isCompressed(type: string): boolean {
  return /^image\/|^application\/(zip|pdf|vnd\.openxmlformats)/.test(type)
}
