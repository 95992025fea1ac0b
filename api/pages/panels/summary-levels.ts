import { BlockLines } from '../../../shared/body/block-lines.ts'
import { headingPathEntry, headingTitle } from '../../../shared/body/outline.ts'
import { bodyText } from '../../../shared/body/queries.ts'
import { textComputation } from '../../../shared/body/stored-body.ts'
import { compute } from '../../../shared/computations/compute.ts'
import type { Queryable } from '../../../shared/database/database.ts'
import { documentPath } from '../../../shared/documents/present.ts'
import type { DocumentRow } from '../../../shared/documents/queries.ts'
import type { TargetRequest } from '../../../shared/summaries/target.ts'

/**
 * Something with a summary that concerns a document: the document, its knowledge base, a folder around it, or a section
 * of it. `key` names the level in addresses of the document's pages.
 */
export type SummaryLevel = { key: string; kind: string; name: string; request: TargetRequest }

/** `around` goes from the knowledge base to the document, and `sections` are in the order of their headings. */
export type SummaryLevels = { around: SummaryLevel[]; document: SummaryLevel; sections: SummaryLevel[] }

// The most sections of which a page lists the summaries.
const mostSections = 500

/** The levels of summaries that concern a document. Of a document with very many sections, the first are listed. */
export async function summaryLevels(db: Queryable, document: DocumentRow): Promise<SummaryLevels> {
  const { id, title } = document
  const [{ knowledge_base, folders }, headings] = await Promise.all([
    documentPath(db, document),
    bodyText(db, document).then((text) => compute(findingHeadings, { text })),
  ])
  const base: SummaryLevel = {
    key: 'knowledge_base',
    kind: 'Knowledge base',
    name: knowledge_base.name,
    request: { type: 'knowledge_base', id: knowledge_base.id },
  }
  const inFolders = folders.map(
    (folder): SummaryLevel => ({
      key: `folder-${folder.id}`,
      kind: 'Folder',
      name: folder.name,
      request: { type: 'folder', id: folder.id },
    }),
  )
  const whole: SummaryLevel = { key: 'document', kind: 'Document', name: title, request: { type: 'document', id } }
  const sections = headings.map(
    ({ blockId, name }): SummaryLevel => ({
      key: blockId,
      kind: 'Section',
      name,
      request: { type: 'document', id, blockId },
    }),
  )
  return { around: [base, ...inFolders, whole], document: whole, sections }
}

/** The first top-level headings of a stored body. A thread imports this function by its name. @public */
export function headingsOf({ text }: { text: string }): { blockId: string; name: string }[] {
  const body = new BlockLines(text.split('\n'))
  const positions = Array.from({ length: body.length }, (_, position) => position)
  return positions
    .filter((position) => body.isHeading(position))
    .slice(0, mostSections)
    .map((position) => {
      const heading = body.block(position)
      return { blockId: heading.attrs.id, name: headingPathEntry(headingTitle(heading)) }
    })
}

const findingHeadings = textComputation({ module: import.meta.url, run: headingsOf, smallLength: 256 * 1024 })
