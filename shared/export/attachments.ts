import { type AttachmentRow, attachmentsOfDocuments } from '../attachments/queries.ts'
import { openBytes } from '../attachments/store.ts'
import type { ExportContext } from './context.ts'
import { attachmentName } from './names.ts'

/** Writes the files of documents, as far as the export has files, and notes those that could not be opened. */
export async function writeAttachments(
  context: ExportContext & { unreadable: Set<string> },
  documents: { workspaceId: string; documentIds: readonly string[] },
): Promise<void> {
  if (context.files === null) return
  for (const row of await attachmentsOfDocuments(context.snapshot, documents)) await writeFile(context, row)
}

/** Where the file of an attachment stands in the archive. */
export function attachmentPath(row: Pick<AttachmentRow, 'id' | 'filename'>): string {
  return `attachments/${row.id}/${attachmentName(row.filename)}`
}

// The snapshot still has what was deleted meanwhile, but its bytes are gone: the archive goes on without them.
async function writeFile(
  { archive, files, log, unreadable }: Parameters<typeof writeAttachments>[0],
  row: AttachmentRow,
): Promise<void> {
  if (files === null) return
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
