import { presentAttachment } from '../attachments/attachment.ts'
import { attachmentsOfDocuments } from '../attachments/queries.ts'
import { type DocumentRow, documentPage } from '../documents/queries.ts'
import { presentFolder } from '../knowledge-bases/folders/find.ts'
import type { KnowledgeBaseRow } from '../knowledge-bases/queries.ts'
import { attachmentPath } from './attachments.ts'
import type { ExportContext } from './context.ts'
import type { Paths } from './paths.ts'

type ManifestContext = Omit<ExportContext, 'archive'> & {
  paths: Paths
  /** Attachments whose files are not in the archive, although it has files. */
  unreadable: ReadonlySet<string>
}

/**
 * The text of `manifest.json` (decisions 4.7) piece by piece, one record a line: what the archive is, and every folder,
 * document and attachment with where it stands in it.
 */
export async function* manifest(
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
