import { type Computation, ComputationLimitError, computation } from '../computations/computation.ts'
import { compute } from '../computations/compute.ts'
import type { BodyLimits } from './body-limits.ts'
import { documentToLines } from './canonical.ts'
import type { DocNode, Warning } from './document.ts'
import { renderHtml } from './html.ts'
import { fromMarkdown } from './markdown/from-markdown.ts'
import { parsesAtOnce, timeLimit, tooCostly } from './markdown/parse-async.ts'
import { toMarkdown } from './markdown/to-markdown.ts'
import { type Normalised, normaliseDocument } from './normalise.ts'
import type { ContentInput } from './schema.ts'
import { StoredBody } from './stored-body.ts'

/** A content input, and what the body that it stands for follows from. */
export type ContentSource = BodyLimits & {
  input: ContentInput
  /** The body that anchored Markdown takes ids and unchanged blocks from; null for a new document. */
  stored: StoredBody | null
  /** The JSON pointer of the input within the request, for the details of refusals. */
  path?: string
  /** Whether the answer shows the new body as Markdown with anchors; for Markdown inputs. */
  anchors?: boolean
}

/** A body that is to be stored: its canonical text, what the limits count, and what the normaliser found out. */
export type WrittenBody = Pick<Normalised<DocNode>, 'nodes' | 'characters' | 'attachments' | 'warnings'> & {
  text: string
  /** The body of a Markdown input as the answer shows it. */
  markdown: { content: string; warnings: Warning[] } | null
}

/**
 * The body that a content input stands for; a large one is made in a thread, in turn. Refuses with the 422 codes of the
 * normaliser and of Markdown anchors, and with 503 `service_unavailable` when too much waits already.
 */
export async function writeContent(source: ContentSource): Promise<WrittenBody> {
  const { input, stored, characterLimit, byteLimit, path = '', anchors = false } = source
  const pointer = `${path}/${input.format === 'markdown' ? 'content' : 'document'}`
  const content = input.format === 'markdown' ? { markdown: input.content } : { json: JSON.stringify(input.document) }
  try {
    const limits = { characterLimit, byteLimit }
    return await compute(writing, { content, storedText: stored?.text ?? null, path: pointer, anchors, ...limits })
  } catch (error) {
    throw error instanceof ComputationLimitError ? tooCostly(pointer) : error
  }
}

/** Whether an input is so small that it can be worked out while the document is locked. */
export function isWrittenAtOnce(input: ContentInput): boolean {
  return input.format === 'markdown' && parsesAtOnce(input.content) && !input.content.includes(anchorStart)
}

/** The body of an initial document as it is stored. */
export function writtenBody({ result, nodes, characters, attachments, warnings }: Normalised<DocNode>): WrittenBody {
  return { text: documentToLines(result).join('\n'), nodes, characters, attachments, warnings, markdown: null }
}

type Writing = BodyLimits & {
  /** JSON is handed to a thread as text, which costs less than objects. */
  content: { markdown: string } | { json: string }
  storedText: string | null
  /** The JSON pointer of the content within the request. */
  path: string
  anchors: boolean
}

/** The work of `writeContent`, which a thread calls by its name. @public */
export function writeBody({ content, storedText, anchors, ...context }: Writing): WrittenBody {
  if ('json' in content) {
    const document: unknown = JSON.parse(content.json)
    return writtenBody(normaliseDocument(document, { from: 'json', ...context }))
  }
  const stored = storedText === null ? {} : { stored: new StoredBody({ version: '', text: storedText }).document }
  const normalised = fromMarkdown(content.markdown, { ...stored, ...context })
  const shown = storedText === null ? null : contentMembers(normalised.result, { format: 'markdown', anchors })
  return {
    ...writtenBody(normalised),
    markdown: shown && { content: shown.content ?? '', warnings: shown.warnings },
  }
}

const anchorStart = '<!-- block='
// Canonical JSON of this length is normalised or rendered in some milliseconds.
const smallJson = 32 * 1024

const writing: Computation<Writing, WrittenBody> = computation({
  module: import.meta.url,
  run: writeBody,
  isSmall: ({ content, storedText }) => {
    if ('json' in content) return content.json.length <= smallJson
    const isRewritten = content.markdown.includes(anchorStart) && (storedText?.length ?? 0) > smallJson
    return parsesAtOnce(content.markdown) && !isRewritten
  },
  cpuMs: ({ content, storedText }) => {
    const renders = (storedText?.length ?? 0) * 0.005
    return ('json' in content ? 2000 + content.json.length * 0.005 : timeLimit(content.markdown.length)) + renders
  },
})

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
