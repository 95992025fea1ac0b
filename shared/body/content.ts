import type { Ahead } from '../computations/ahead.ts'
import { type Computation, ComputationLimitError, computation } from '../computations/computation.ts'
import type { DocumentLabels } from '../documents/front-matter.ts'
import type { BodyLimits } from './body-limits.ts'
import { canonicalJson, documentToLines, linesToDocument } from './canonical.ts'
import type { DocNode, Warning } from './document.ts'
import { renderHtml } from './html.ts'
import { assemble } from './markdown/from-markdown.ts'
import { withFrontMatter } from './markdown/front-matter.ts'
import { parseMarkdown } from './markdown/parse.ts'
import { parsesAtOnce, timeLimit, tooCostly } from './markdown/parse-async.ts'
import { StoredBlocks } from './markdown/stored-blocks.ts'
import { linesToMarkdown } from './markdown/to-markdown.ts'
import { writeBack } from './markdown/write-back.ts'
import { type Normalised, normaliseDocument } from './normalise.ts'
import type { ContentInput } from './schema.ts'
import type { StoredBody } from './stored-body.ts'

/** A content input, with everything else that decides what body is made from the input. */
export type ContentSource = BodyLimits & {
  input: ContentInput
  /** The stored body, whose ids and unchanged blocks anchored Markdown keeps; null for a new document. */
  stored: StoredBody | null
  /** The JSON pointer of the input within the request, for the details of refusals. */
  path?: string
  /** True if the answer shows the new body as Markdown with anchors. Only Markdown inputs use this. */
  anchors?: boolean
}

/**
 * A body that is ready to be stored: its canonical text, the counts that limits apply to, and the attachments and
 * warnings of the normaliser.
 */
export type WrittenBody = Pick<Normalised<DocNode>, 'nodes' | 'characters' | 'attachments' | 'warnings'> & {
  text: string
  /** The new body as Markdown, for the answer; null for an input in JSON and for a new document. */
  markdown: { content: string; warnings: Warning[] } | null
}

/**
 * Makes the body of a content input. Refuses with the 422 codes of the normaliser and of Markdown anchors. Refuses with
 * 503 `service_unavailable` when too many computations wait already.
 */
export async function writeContent(ahead: Ahead, source: ContentSource): Promise<WrittenBody> {
  const { input, stored, characterLimit, byteLimit, path = '', anchors = false } = source
  const [format, pointer] = [input.format, `${path}/${input.format === 'markdown' ? 'content' : 'document'}`]
  const content = input.format === 'markdown' ? input.content : input.document
  const storedText = input.format === 'markdown' ? (stored?.text ?? null) : null
  try {
    return await ahead.result(writing, {
      format,
      content,
      storedText,
      path: pointer,
      anchors,
      characterLimit,
      byteLimit,
    })
  } catch (error) {
    throw error instanceof ComputationLimitError ? tooCostly(pointer) : error
  }
}

/** Turns a normalised document into the body that is stored. */
export function writtenBody({ result, ...rest }: Normalised<DocNode>): WrittenBody {
  return bodyOf(documentToLines(result), rest)
}

type Writing = BodyLimits & {
  format: ContentInput['format']
  /** Markdown, or a document as JSON text. */
  content: string
  /** The stored text of the body before, for Markdown; null for a new document. */
  storedText: string | null
  /** The JSON pointer of the content within the request. */
  path: string
  anchors: boolean
}

/** Makes a new body from Markdown or JSON. A thread calls this function by its name. @public */
export function writeBody({ format, content, storedText, anchors, ...context }: Writing): WrittenBody {
  if (format === 'tiptap-json') {
    return writtenBody(normaliseDocument(JSON.parse(content), { from: 'json', ...context }))
  }
  const assembling = { ...context, stored: new StoredBlocks(storedText?.split('\n') ?? []) }
  const isAnchored = storedText !== null && content.includes(anchorStart)
  const { blocks, ...rest } =
    (isAnchored ? writeBack(content, assembling) : null) ??
    assemble(parseMarkdown({ markdown: content, ...context, keepsBlocks: storedText !== null }), assembling)
  const lines = blocks.map((block) => (typeof block === 'string' ? block : canonicalJson(block)))
  if (storedText === null) return bodyOf(lines, rest)
  const shown = linesToMarkdown(lines, { anchors })
  return { ...bodyOf(lines, rest), markdown: { content: shown.markdown, warnings: shown.warnings } }
}

function bodyOf(lines: readonly string[], found: Omit<Normalised<unknown>, 'result'>): WrittenBody {
  const { nodes, characters, attachments, warnings } = found
  return { text: lines.join('\n'), nodes, characters, attachments, warnings, markdown: null }
}

const anchorStart = '<!-- block='
// The most characters of canonical JSON that are normalised or rendered without a thread. So many characters take a few
// milliseconds.
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

/** A format that `GET /documents/{id}/content` can answer in. */
export type ContentFormat = 'tiptap-json' | 'markdown' | 'html'

/** The options of a content answer. `labels` are the tags and properties that Markdown has in its front matter. */
export type ContentOptions = { anchors: boolean; labels?: DocumentLabels | null }

/** The members of a content answer that depend on its format, from the stored lines of a body. */
export function contentMembers(
  lines: readonly string[],
  { format, ...options }: ContentOptions & { format: ContentFormat },
): { document?: DocNode; content?: string; warnings: Warning[] } {
  return writers[format](lines, options)
}

/** The stored lines of a body as Markdown, with a warning for each loss. */
export function contentMarkdown(
  stored: readonly string[],
  { anchors, labels = null }: ContentOptions,
): { content: string; warnings: Warning[] } {
  const { lines, above, warnings } =
    labels === null ? { lines: stored, above: '', warnings: [] } : withFrontMatter(stored, labels)
  const written = linesToMarkdown(lines, { anchors })
  return { content: above + written.markdown, warnings: [...warnings, ...written.warnings] }
}

type Writer = (lines: readonly string[], options: ContentOptions) => ReturnType<typeof contentMembers>

const writers: Record<ContentFormat, Writer> = {
  'tiptap-json': (lines) => ({ document: linesToDocument(lines), warnings: [] }),
  markdown: contentMarkdown,
  html: (lines) => ({ content: renderHtml(linesToDocument(lines)), warnings: [] }),
}
