import type { KnowledgeBaseRow } from '../knowledge-bases/queries.ts'
import { writeAttachments } from './attachments.ts'
import type { ExportContext } from './context.ts'
import { exportedMarkdown } from './markdown.ts'
import type { Paths } from './paths-of.ts'
import { currentBodies, type DocumentSize, documentSizes } from './queries.ts'

type DocumentsContext = ExportContext & { paths: Paths; unreadable: Set<string> }

/** Writes the body of every document, as it is stored and as Markdown with anchors, and the files of all. */
export async function writeDocuments(context: DocumentsContext, knowledgeBase: KnowledgeBaseRow): Promise<void> {
  const key = { workspaceId: knowledgeBase.workspace_id, id: knowledgeBase.id }
  for (let after = ''; ; ) {
    const page = await documentSizes(context.snapshot, { ...key, after, limit: pageSize })
    for (const batch of batches(page)) {
      await writeBodies(context, { batch, workspaceId: key.workspaceId })
      const documentIds = batch.map(({ id }) => id)
      await writeAttachments(context, { workspaceId: key.workspaceId, documentIds })
    }
    const last = page.at(-1)
    if (last === undefined || page.length < pageSize) return
    after = last.id
  }
}

const pageSize = 500

// Bodies in memory at a time, in bytes; a larger one comes alone.
const batchBytes = 1 << 20

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
  { snapshot, archive, paths, log }: DocumentsContext,
  { batch, workspaceId }: { batch: readonly DocumentSize[]; workspaceId: string },
): Promise<void> {
  const rows = await currentBodies(snapshot, { workspaceId, documentIds: batch.map(({ id }) => id) })
  const texts = new Map(rows.map(({ id, body }) => [id, body]))
  for (const document of batch) {
    const text = texts.get(document.id)
    if (text === undefined) throw new Error(`the body of ${document.id} is missing`)
    const modified = new Date(document.updated_at)
    await archive.add(paths.json(document), json(text), { modified })
    const markdown = await exportedMarkdown({ log }, { id: document.id, text })
    await archive.add(paths.markdown(document), Buffer.from(markdown), { modified })
  }
}

// The stored text is the document already, one top-level block a line.
function json(text: string): Buffer {
  return Buffer.from(`{"type":"doc","content":[\n${text.replaceAll('\n', ',\n')}\n]}\n`)
}
