import { contentMarkdown } from '../body/content.ts'
import { textComputation } from '../body/stored-body.ts'
import { ComputationLimitError } from '../computations/computation.ts'
import { compute } from '../computations/compute.ts'
import type { DocumentLabels } from '../documents/front-matter.ts'
import type { Logger } from '../process/log.ts'

/**
 * Renders a body as Markdown with anchors, with tags and properties in its front matter. Returns a comment instead when
 * the body takes too much time or memory to render. The export goes on, since the archive has the body as JSON anyway.
 * `text` is the canonical text of the body.
 */
export async function exportedMarkdown(
  { log }: { log: Logger },
  document: { id: string; text: string; labels: DocumentLabels },
): Promise<string> {
  try {
    return await compute(rendering, { text: document.text, labels: document.labels })
  } catch (error) {
    if (!(error instanceof ComputationLimitError)) throw error
    log.warn({ err: error, document_id: document.id }, 'an export goes on without the Markdown of a document')
    return '<!-- This document takes too much time or memory to be written as Markdown. Its JSON is complete. -->\n'
  }
}

/** Renders a body as Markdown with anchors and front matter. A thread calls this function by its name. @public */
export function renderMarkdown({ text, labels }: { text: string; labels: DocumentLabels }): string {
  return contentMarkdown(text.split('\n'), { anchors: true, labels }).content
}

const rendering = textComputation({ module: import.meta.url, run: renderMarkdown })
