import type { Ahead } from '../computations/ahead.ts'
import { type Computation, ComputationLimitError, computation } from '../computations/computation.ts'
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
 * The body that a content input stands for. Refuses with the 422 codes of the normaliser and of Markdown anchors, and
 * with 503 `service_unavailable` when too much waits already.
 */
export function writeContent(ahead: Ahead, source: ContentSource): WrittenBody {
  const { input, stored, characterLimit, byteLimit, path = '', anchors = false } = source
  const [format, pointer] = [input.format, `${path}/${input.format === 'markdown' ? 'content' : 'document'}`]
  const content = input.format === 'markdown' ? input.content : input.document
  const storedText = input.format === 'markdown' ? (stored?.text ?? null) : null
  try {
    return ahead.result(writing, { format, content, storedText, path: pointer, anchors, characterLimit, byteLimit })
  } catch (error) {
    throw error instanceof ComputationLimitError ? tooCostly(pointer) : error
  }
}

/** The body of an initial document as it is stored. */
export function writtenBody({ result, nodes, characters, attachments, warnings }: Normalised<DocNode>): WrittenBody {
  return { text: documentToLines(result).join('\n'), nodes, characters, attachments, warnings, markdown: null }
}

type Writing = BodyLimits & {
  format: ContentInput['format']
  /** Markdown, or a document as JSON text. */
  content: string
  /** The body before, for Markdown; null for a new document. */
  storedText: string | null
  /** The JSON pointer of the content within the request. */
  path: string
  anchors: boolean
}

/** The work of `writeContent`, which a thread calls by its name. @public */
export function writeBody({ format, content, storedText, anchors, ...context }: Writing): WrittenBody {
  if (format === 'tiptap-json') {
    return writtenBody(normaliseDocument(JSON.parse(content), { from: 'json', ...context }))
  }
  const stored = storedText === null ? {} : { stored: new StoredBody({ version: '', text: storedText }).document }
  const normalised = fromMarkdown(content, { ...stored, ...context })
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
  isSmall: ({ format, content, storedText }) => {
    if (format === 'tiptap-json') return content.length <= smallJson
    const isRewritten = content.includes(anchorStart) && (storedText?.length ?? 0) > smallJson
    return parsesAtOnce(content) && !isRewritten
  },
  cpuMs: ({ format, content, storedText }) => {
    const renders = (storedText?.length ?? 0) * 0.005
    return (format === 'tiptap-json' ? 2000 + content.length * 0.005 : timeLimit(content.length)) + renders
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
