import { toMarkdown } from '../body/markdown/to-markdown.ts'
import { StoredBody } from '../body/stored-body.ts'
import { textComputation } from '../body/text-computation.ts'
import { ComputationLimitError } from '../computations/computation.ts'
import { compute } from '../computations/compute.ts'
import type { ExportContext } from './context.ts'

/**
 * A body as Markdown with anchors. Of a body that takes too much time or memory to render, a comment says so: the
 * archive holds it as JSON and goes on.
 */
export async function exportedMarkdown(
  { log }: Pick<ExportContext, 'log'>,
  document: { id: string; text: string },
): Promise<string> {
  try {
    return await compute(rendering, { text: document.text })
  } catch (error) {
    if (!(error instanceof ComputationLimitError)) throw error
    log.warn({ err: error, document_id: document.id }, 'an export goes on without the Markdown of a document')
    return '<!-- This document takes too much time or memory to be written as Markdown. Its JSON is complete. -->\n'
  }
}

/** The work of `exportedMarkdown`, which a thread calls by its name. @public */
export function renderMarkdown({ text }: { text: string }): string {
  return toMarkdown(new StoredBody({ version: '', text }).document, { anchors: true }).markdown
}

const rendering = textComputation({ module: import.meta.url, run: renderMarkdown })
