import { presentAttachment } from '../attachments/attachment.ts'
import { attachmentsOfDocuments } from '../attachments/queries.ts'
import type { FileStore } from '../attachments/store.ts'
import type { Queryable } from '../database/database.ts'
import { documentPage } from '../documents/list.ts'
import type { DocumentRow } from '../documents/queries.ts'
import type { Document } from '../documents/schema.ts'
import { presentFolder } from '../knowledge-bases/folders.ts'
import type { KnowledgeBaseRow } from '../knowledge-bases/queries.ts'
import type { Logger } from '../process/log.ts'
import type { Archive } from './archive.ts'
import { writeDocuments } from './documents.ts'
import { attachmentPath, type Paths, readPaths } from './paths.ts'

/** The snapshot and the store that an export reads, and the archive that it writes. */
type ExportContext = {
  /** A transaction that reads one moment of the database. */
  snapshot: Queryable
  archive: Archive
  /** The store of attachment files, or null to leave the files out. */
  files: FileStore | null
  log: Logger
  /** Returns documents in the shape of the API. */
  present: (db: Queryable, rows: readonly DocumentRow[]) => Promise<Document[]>
}

type ManifestContext = Omit<ExportContext, 'archive' | 'log'> & {
  paths: Paths
  /** The ids of attachments whose files could not be read. */
  unreadable: ReadonlySet<string>
}

/**
 * Writes a knowledge base into an archive and ends the archive. The memory that the export takes does not depend on the
 * number of documents. The manifest comes last, because only then is known which files could be read. Throws when the
 * snapshot or the archive fails.
 */
export async function writeExport(context: ExportContext, knowledgeBase: KnowledgeBaseRow): Promise<void> {
  const exportedAt = Date.now()
  const paths = await readPaths(context.snapshot, { workspaceId: knowledgeBase.workspace_id, id: knowledgeBase.id })
  const unreadable = new Set<string>()
  await writeDocuments({ ...context, paths, unreadable }, knowledgeBase)
  const text = manifest({ ...context, paths, unreadable }, { knowledgeBase, exportedAt })
  await context.archive.add('manifest.json', text, { modified: new Date(exportedAt) })
  context.archive.end()
}

// Yields the text of `manifest.json`, one record a line: the head, then every folder, document and attachment with its
// path in the archive.
async function* manifest(
  context: ManifestContext,
  { knowledgeBase, exportedAt }: { knowledgeBase: KnowledgeBaseRow; exportedAt: number },
): AsyncGenerator<string> {
  const head = JSON.stringify({
    format: 'svc-export',
    format_version: 1,
    exported_at: exportedAt,
    knowledge_base: knowledgeBase,
  })
  yield head.slice(0, -1)
  yield ',\n"folders":['
  yield* lines([context.paths.folders.map(presentFolder)])
  yield '],\n"documents":['
  yield* lines(documents(context, knowledgeBase))
  yield '],\n"attachments":['
  yield* lines(attachments(context, knowledgeBase))
  yield ']}\n'
}

async function* documents(context: ManifestContext, knowledgeBase: KnowledgeBaseRow): AsyncGenerator<object[]> {
  const { paths } = context
  for await (const rows of pages(context, knowledgeBase)) {
    const presented = await context.present(context.snapshot, rows)
    yield presented.map((document) => ({
      ...document,
      json_path: paths.json(document),
      markdown_path: paths.markdown(document),
    }))
  }
}

async function* attachments(context: ManifestContext, knowledgeBase: KnowledgeBaseRow): AsyncGenerator<object[]> {
  const hasFile = (id: string) => context.files !== null && !context.unreadable.has(id)
  for await (const page of pages(context, knowledgeBase)) {
    const documentIds = page.map(({ id }) => id)
    const rows = await attachmentsOfDocuments(context.snapshot, {
      workspaceId: knowledgeBase.workspace_id,
      documentIds,
    })
    yield rows.map((row) => ({ ...presentAttachment(row), path: hasFile(row.id) ? attachmentPath(row) : null }))
  }
}

async function* pages(
  { snapshot }: Pick<ManifestContext, 'snapshot'>,
  knowledgeBase: KnowledgeBaseRow,
): AsyncGenerator<readonly DocumentRow[]> {
  const filter = {
    workspaceIds: [knowledgeBase.workspace_id],
    knowledgeBaseId: knowledgeBase.id,
    includeVariants: true,
    sort: 'id' as const,
    limit: 500,
  }
  for (let after: string[] | null = null; ; ) {
    const rows: readonly DocumentRow[] = await documentPage(snapshot, { ...filter, after })
    const page = rows.slice(0, filter.limit)
    yield page
    const last = page.at(-1)
    if (rows.length <= filter.limit || last === undefined) return
    after = [last.id]
  }
}

async function* lines(pagesOfRecords: Iterable<object[]> | AsyncIterable<object[]>): AsyncGenerator<string> {
  let separator = '\n'
  for await (const page of pagesOfRecords) {
    if (page.length === 0) continue
    yield separator + page.map((value) => JSON.stringify(value)).join(',\n')
    separator = ',\n'
  }
}
