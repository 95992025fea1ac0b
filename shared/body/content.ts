import type { BodyLimits } from './body-limits.ts'
import type { DocNode, Warning } from './document.ts'
import { renderHtml } from './html.ts'
import { assemble } from './markdown/from-markdown.ts'
import type { Parsed } from './markdown/parse.ts'
import { parseMarkdownAsync } from './markdown/parse-async.ts'
import { toMarkdown } from './markdown/to-markdown.ts'
import { type Normalised, normaliseDocument } from './normalise.ts'
import type { ContentInput } from './schema.ts'
import type { StoredBody } from './stored-body.ts'

/** A content input as far as it can be worked out without the stored body. */
export type PreparedContent = { markdown: Parsed; path: string } | { normalised: Normalised<DocNode> }

/**
 * The costly half of reading a content input, before any lock is taken. Refuses with the 422 codes of the normaliser
 * and of Markdown anchors; `path` is the JSON pointer of the input within the request, for their details.
 */
export async function prepareContent(
  input: ContentInput,
  { path = '', ...limits }: BodyLimits & { path?: string },
): Promise<PreparedContent> {
  if (input.format === 'markdown') {
    const pointer = `${path}/content`
    return { markdown: await parseMarkdownAsync({ markdown: input.content, path: pointer, ...limits }), path: pointer }
  }
  return { normalised: normaliseDocument(input.document, { from: 'json', path: `${path}/document`, ...limits }) }
}

/** The body that a prepared input stands for; anchored Markdown takes ids and unchanged blocks from the stored body. */
export function resolveContent(
  prepared: PreparedContent,
  { stored, ...limits }: BodyLimits & { stored?: StoredBody },
): Normalised<DocNode> {
  if ('normalised' in prepared) return prepared.normalised
  const { markdown, path } = prepared
  return assemble(markdown, { ...(stored !== undefined && { stored: stored.document }), path, ...limits })
}

/** The formats of `GET /documents/{id}/content`. */
export type ContentFormat = 'tiptap-json' | 'markdown' | 'html'

/** What a content response carries in each format, beside what all have in common (decisions 2.5). */
export function contentMembers(
  document: DocNode,
  options: { format: ContentFormat; anchors: boolean },
): { document?: DocNode; content?: string; warnings: Warning[] } {
  return writers[options.format](document, options.anchors)
}

type Writer = (document: DocNode, anchors: boolean) => ReturnType<typeof contentMembers>

const writers: Record<ContentFormat, Writer> = {
  'tiptap-json': (document) => ({ document, warnings: [] }),
  markdown: (document, anchors) => {
    const { markdown, warnings } = toMarkdown(document, { anchors })
    return { content: markdown, warnings }
  },
  html: (document) => ({ content: renderHtml(document), warnings: [] }),
}
