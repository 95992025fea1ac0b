import type { Ahead } from '../computations/ahead.ts'
import { type Computation, ComputationLimitError, computation } from '../computations/computation.ts'
import type { DocumentLabels } from '../documents/front-matter.ts'
import { codePoints } from '../schema/code-points.ts'
import { type BodyLimits, checkCharacters } from './body-limits.ts'
import { canonicalJson, documentToLines, linesToDocument } from './canonical.ts'
import { type BodyChange, withChange } from './change.ts'
import type { BlockNode, DocNode, Warning } from './document.ts'
import { renderHtml } from './html.ts'
import { type Assembled, assemble } from './markdown/from-markdown.ts'
import { withFrontMatter } from './markdown/front-matter.ts'
import { expressible } from './markdown/keep-ids.ts'
import { parseMarkdown } from './markdown/parse.ts'
import { parsesAtOnce, timeLimit, tooCostly } from './markdown/parse-async.ts'
import { StoredBlocks } from './markdown/stored-blocks.ts'
import { linesToMarkdown } from './markdown/to-markdown.ts'
import { writeBack } from './markdown/write-back.ts'
import { matchIds, withNested } from './match-ids.ts'
import { isTextblock } from './nodes.ts'
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
  /** What happens to blocks without an id or anchor (api/guide/writes.md#identity); `strict` by default. */
  ids?: IdPolicy
}

/** `strict`: blocks without an id or anchor get new ids. `match`: those of the stored blocks that they continue. */
export type IdPolicy = 'strict' | 'match'

/**
 * A body that is ready to be stored: its canonical text, the counts that limits apply to, and the attachments and
 * warnings of the normaliser.
 */
export type WrittenBody = Pick<Normalised<DocNode>, 'nodes' | 'characters' | 'attachments' | 'warnings'> & {
  text: string
  /** The new body as Markdown, for the answer; null for an input in JSON and for a new document. */
  markdown: { content: string; warnings: Warning[] } | null
  /** The change of the stored body; absent for a new document. */
  change?: BodyChange
}

/**
 * Makes the body of a content input. Refuses with the 422 codes of the normaliser and of Markdown anchors. Refuses with
 * 503 `service_unavailable` when too many computations wait already.
 */
export async function writeContent(ahead: Ahead, source: ContentSource): Promise<WrittenBody> {
  const { input, stored, characterLimit, byteLimit, path = '', anchors = false, ids = 'strict' } = source
  const [format, pointer] = [input.format, `${path}/${input.format === 'markdown' ? 'content' : 'document'}`]
  const content = input.format === 'markdown' ? input.content : input.document
  try {
    return await ahead.result(writing, {
      format,
      content,
      storedText: stored?.text ?? null,
      path: pointer,
      anchors,
      ids,
      characterLimit,
      byteLimit,
    })
  } catch (error) {
    if (!(error instanceof ComputationLimitError)) throw error
    // A text that is far too long may already take too long to read.
    if (format === 'markdown') checkCharacters(codePoints(content), characterLimit)
    throw tooCostly(pointer)
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
  /** The stored text of the body before; null for a new document. */
  storedText: string | null
  /** The JSON pointer of the content within the request. */
  path: string
  anchors: boolean
  ids?: IdPolicy
}

/** Makes a new body from Markdown or JSON. A thread calls this function by its name. @public */
export function writeBody({ format, content, storedText, anchors, ids = 'strict', ...context }: Writing): WrittenBody {
  const stored = storedText === null ? [] : storedText.split('\n')
  const made =
    format === 'tiptap-json' ? fromJson(content, context) : fromStoredMarkdown(content, { ...context, stored })
  const { lines, warnings } = withIdentity(made, { format, stored, ids })
  const body = bodyOf(lines, { ...made, warnings })
  if (storedText === null) return body
  const changed = withChange(storedText, body)
  if (format === 'tiptap-json') return changed
  const shown = linesToMarkdown(lines, { anchors })
  return { ...changed, markdown: { content: shown.markdown, warnings: shown.warnings } }
}

function fromJson(json: string, context: BodyLimits & { path: string }): Assembled {
  const { result, ...rest } = normaliseDocument(JSON.parse(json), { from: 'json', ...context })
  return { ...rest, blocks: result.content }
}

type MarkdownContext = BodyLimits & { path: string; stored: readonly string[] }

function fromStoredMarkdown(markdown: string, { stored, ...context }: MarkdownContext): Assembled {
  const assembling = { ...context, stored: new StoredBlocks(stored) }
  const written = stored.length > 0 && markdown.includes(anchorStart) ? writeBack(markdown, assembling) : null
  return written ?? assemble(parseMarkdown({ markdown, ...context }), assembling)
}

type Identity = { format: ContentInput['format']; stored: readonly string[]; ids: IdPolicy }

// The lines of a new body. Its blocks get the ids of stored blocks, or the warnings say how many ids were replaced.
function withIdentity({ blocks, givenIds, warnings }: Assembled, { format, stored, ids }: Identity) {
  const named = new Set(givenIds)
  if (ids === 'strict') {
    const lines = blocks.map((block) => (typeof block === 'string' ? block : canonicalJson(block)))
    const hasNew = blocks.some((block) => typeof block !== 'string' && !named.has(block.attrs.id))
    // It is among the 100 warnings that an answer shows.
    const count = hasNew ? replacedCount(blocks, { stored, named }) : 0
    return { lines, warnings: count === 0 ? warnings : warnings.toSpliced(99, 0, replacedWarning(count)) }
  }
  const parsed = blocks.map((block) => (typeof block === 'string' ? (JSON.parse(block) as BlockNode) : block))
  for (const [index, block] of blocks.entries()) {
    if (typeof block === 'string') for (const { attrs } of withNested([parsed[index] as BlockNode])) named.add(attrs.id)
  }
  // Markdown cannot say all of a block, so blocks are equal if Markdown would say the same of them.
  const shape = format === 'markdown' ? expressible : undefined
  const replaced = matchIds(parsed, { stored: linesToDocument(stored).content, named, ...(shape && { shape }) })
  const renamed = (id: string | null) => (id === null ? null : (replaced.get(id) ?? id))
  return {
    lines: parsed.map((block) => canonicalJson(block)),
    warnings: warnings.map((warning) => ({ ...warning, block_id: renamed(warning.block_id) })),
  }
}

type Replacing = { stored: readonly string[]; named: ReadonlySet<string> }

// The number of stored top-level blocks with content whose id is neither in the request nor in the new body. A stored
// line among the new blocks stays as it is; every other id comes from the request.
function replacedCount(blocks: Assembled['blocks'], { stored, named }: Replacing): number {
  const kept = new Set(blocks)
  return linesToDocument(stored.filter((line) => !kept.has(line))).content.filter((block) => {
    const isEmpty = block.content === undefined && isTextblock(block.type)
    return !isEmpty && !named.has(block.attrs.id)
  }).length
}

function replacedWarning(count: number): Warning {
  const blocks = count === 1 ? 'One block was' : `${count} blocks were`
  const message = `${blocks} replaced under new ids. Send ids=match, or the ids or anchors of the blocks, to keep them.`
  return { code: 'block_ids_replaced', message, block_id: null, count }
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
    if ((storedText?.length ?? 0) > smallJson) return false
    return format === 'tiptap-json' ? content.length <= smallJson : parsesAtOnce(content)
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
