import { documentToLines, linesToDocument } from '../body/canonical.ts'
import { withAddresses } from '../body/changed-addresses.ts'
import { contentMarkdown } from '../body/content.ts'
import type { DocNode } from '../body/document.ts'
import { textComputation } from '../body/stored-body.ts'
import { ComputationLimitError } from '../computations/computation.ts'
import { compute } from '../computations/compute.ts'
import type { DocumentLabels } from '../documents/front-matter.ts'
import type { Logger } from '../process/log.ts'

/**
 * What is rendered: the canonical text of a body, its labels, and the relative addresses of the files that it names, by
 * the addresses of documents and attachments.
 */
type ExportedBody = { text: string; labels: DocumentLabels; files: Readonly<Record<string, string>> }

/**
 * Renders a body as Markdown with anchors, with tags and properties in its front matter. Returns a comment instead when
 * the body takes too much time or memory to render. The export goes on, since the archive has the body as JSON anyway.
 */
export async function exportedMarkdown(
  { log }: { log: Logger },
  { id, ...body }: ExportedBody & { id: string },
): Promise<string> {
  try {
    return await compute(rendering, body)
  } catch (error) {
    if (!(error instanceof ComputationLimitError)) throw error
    log.warn({ err: error, document_id: id }, 'an export goes on without the Markdown of a document')
    return '<!-- This document takes too much time or memory to be written as Markdown. Its JSON is complete. -->\n'
  }
}

/** Renders a body as Markdown with anchors and front matter. A thread calls this function by its name. @public */
export function renderMarkdown({ text, labels, files }: ExportedBody): string {
  const stored = text.split('\n')
  const lines = Object.keys(files).length === 0 ? stored : documentToLines(withFiles(linesToDocument(stored), files))
  return contentMarkdown(lines, { anchors: true, labels }).content
}

const rendering = textComputation({ module: import.meta.url, run: renderMarkdown })

function withFiles(document: DocNode, files: ExportedBody['files']): DocNode {
  return withAddresses(document, (address) => {
    const [, name = '', fragment = ''] = /^([^#]*)(.*)$/s.exec(address) ?? []
    return Object.hasOwn(files, name) ? files[name] + fragment : undefined
  })
}
