import { BlockLines } from '../../../shared/body/block-lines.ts'
import { listBlocks } from '../../../shared/body/blocks.ts'
import { type ContentFormat, type ContentOptions, contentMembers } from '../../../shared/body/content.ts'
import { answerWarnings } from '../../../shared/body/document.ts'
import { manifestOf } from '../../../shared/body/manifest.ts'
import { outlineOf } from '../../../shared/body/outline.ts'
import { blockPositionOf, type ReadAnnotation, type ReadView, readWindow } from '../../../shared/body/read.ts'
import { StoredBody, textComputation } from '../../../shared/body/stored-body.ts'
import { compute } from '../../../shared/computations/compute.ts'
import { Refusal } from '../../../shared/errors/errors.ts'
import { type CursorScope, decodeCursor, encodeCursor, takeWithin } from '../../http/pagination.ts'
import { presentBlock } from './block-write.ts'

/** A selection of the members of a call: the members on which a partial read depends, as plain data. */
export type ReadRequest = {
  endpoint: string
  params: { id: string }
  query: {
    around?: string | undefined
    max_tokens?: number | undefined
    context_before?: number | undefined
    context_after?: number | undefined
    annotate?: ReadAnnotation | undefined
    cursor?: string | undefined
    locale?: string | undefined
  }
  view: ReadView
  version: string
}

// A view is the `data` of an answer about a body, as JSON text. A view is computed without blocking the event loop, in
// a thread when the body is large. Passing text between threads costs less than passing objects. First come the members
// of `heading`, then members that follow from the body, then the members of `resolution`.

type Framed = { text: string; heading: object; resolution: object }
type ContentView = Framed & ContentOptions & { format: ContentFormat }
type ReadPartView = Framed & { request: ReadRequest }
type OutlinePartView = Framed & { query: ReadRequest['query'] }
type BaselineView = { text: string; baseline: object }
type BlocksView = {
  text: string
  document: { id: string; version: string }
  recursive: boolean
  start: number
  limit: number
  maxBytes: number
}

/** The `data` of a whole body in one of its formats, as JSON text. */
export async function contentText(view: ContentView): Promise<string> {
  return view.format === 'tiptap-json' ? storedJson(view) : compute(content, view)
}

/** The `data` of an outline as JSON text. */
export function outlineText(view: Framed): Promise<string> {
  return compute(outline, view)
}

/**
 * The `data` of a part of a body as JSON text. Refuses with 404 `block_not_found`, 400 `invalid_cursor` or 409
 * `read_cursor_stale`.
 */
export function readText(view: ReadPartView): Promise<string> {
  return compute(read, view)
}

/**
 * The `data` of a read with the view `outline`, as JSON text. Refuses with 404 `block_not_found`, and with 400
 * `invalid_cursor` when there is a cursor.
 */
export function outlinePartText(view: OutlinePartView): Promise<string> {
  return compute(outlinePart, view)
}

/**
 * A page of the blocks of a body. `dataText` is an array as JSON text, `count` is its length, and `hasMore` says
 * whether more blocks follow.
 */
export function blocksText(view: BlocksView): Promise<{ dataText: string; count: number; hasMore: boolean }> {
  return compute(blocks, view)
}

/**
 * The `data` of a baseline, from which a client begins to follow changes, as JSON text. The baseline holds the manifest
 * of the body.
 */
export function baselineText(view: BaselineView): Promise<string> {
  return compute(baseline, view)
}

/**
 * The `data` of the answer to a write of a whole body, as JSON text. First come the members of `heading`, then the
 * document, then the members of `behind`.
 */
export function contentAnswerText({
  text,
  heading,
  behind,
}: {
  text: string
  heading: object
  behind: object
}): string {
  return withDocument({ before: heading, text, behind })
}

/**
 * Writes the `data` of a whole body in one of its formats, as JSON text. A thread imports this function by its name.
 * @public
 */
export function renderContent({ text, heading, resolution, format, ...options }: ContentView): string {
  const members = contentMembers(text.split('\n'), { format, ...options })
  const warnings = answerWarnings(members.warnings)
  return JSON.stringify({ ...heading, format, ...members, warnings, ...resolution })
}

/** Writes the `data` of an outline as JSON text. A thread imports this function by its name. @public */
export function renderOutline({ text, heading, resolution }: Framed): string {
  return JSON.stringify({ ...heading, ...outlineOf(documentOf(text).content), ...resolution })
}

/** Writes the `data` of a part of a body as JSON text. A thread imports this function by its name. @public */
export function renderRead({ text, heading, resolution, request }: ReadPartView): string {
  const part = readPart(new BlockLines(text.split('\n')), request)
  return JSON.stringify({ ...heading, view: request.view, ...part, ...resolution })
}

/**
 * Writes the `data` of a read with the view `outline`, as JSON text. A thread imports this function by its name.
 * @public
 */
export function renderOutlinePart({ text, heading, resolution, query }: OutlinePartView): string {
  checkOutlineQuery(new BlockLines(text.split('\n')), query)
  const { sections } = outlineOf(documentOf(text).content)
  return JSON.stringify({ ...heading, view: 'outline', sections, ...resolution })
}

/**
 * Writes the `data` of a baseline, with the manifest of the body, as JSON text. A thread imports this function by its
 * name. @public
 */
export function renderBaseline({ text, baseline }: BaselineView): string {
  return JSON.stringify({ ...baseline, manifest: manifestOf(text.split('\n')) })
}

/** Writes a page of the blocks of a body as JSON text. A thread imports this function by its name. @public */
export function renderBlocks({ text, document, recursive, start, limit, maxBytes }: BlocksView) {
  const blocks = listBlocks(new BlockLines(text.split('\n')), { recursive, from: start })
  const presented = blocks.map((block) => presentBlock(block, document))
  const { taken, hasMore } = takeWithin(presented, { limit, maxBytes })
  return { dataText: JSON.stringify(taken), count: taken.length, hasMore }
}

/**
 * Reads one part of a body, and returns it with the cursor of the next part. Refuses with 400 `invalid_cursor` a cursor
 * that was made for other parameters. Refuses with 409 `read_cursor_stale` a cursor of another version of the body.
 */
export function readPart(body: BlockLines, request: ReadRequest) {
  const { view, version, query } = request
  const { around, max_tokens, context_before, context_after, cursor } = withDefaults(query)
  const scope = readScope(request)
  const resume = cursor === undefined ? undefined : resumePosition(scope, { cursor, version })
  const { resume: next, ...part } = readWindow(body, {
    view,
    maxTokens: max_tokens,
    contextBefore: context_before,
    contextAfter: context_after,
    annotate: query.annotate,
    ...(around !== undefined && { around }),
    ...(resume !== undefined && { resume }),
  })
  return { ...part, max_tokens, next_cursor: next === null ? null : encodeCursor(scope, [version, next]) }
}

/** The cursor with which a read begins at the first block of the body. */
export function readStart(request: ReadRequest): string {
  return encodeCursor(readScope(request), [request.version, 0])
}

function readScope({ endpoint, params, query, view }: ReadRequest): CursorScope {
  const { around, max_tokens, context_before, context_after, locale, annotate } = withDefaults(query)
  const context = around && { context_before, context_after }
  const filters = { view, id: params.id, locale, around, max_tokens, ...context, ...(annotate && { annotate }) }
  return { endpoint, filters, sort: 'position' }
}

function withDefaults({ max_tokens = 4000, context_before = 2, context_after = 4, ...given }: ReadRequest['query']) {
  return { ...given, max_tokens, context_before, context_after }
}

/**
 * Checks the parameters of a read with the view `outline`. Refuses with 404 `block_not_found` an unknown block, and
 * with 400 `invalid_cursor` any cursor, since an outline has no further parts.
 */
function checkOutlineQuery(body: BlockLines, query: ReadRequest['query']): void {
  if (query.cursor !== undefined) throw new Refusal('invalid_cursor')
  if (query.around !== undefined) blockPositionOf(body, query.around)
}

const module = import.meta.url
const content = textComputation({ module, run: renderContent })
const outline = textComputation({ module, run: renderOutline })
const read = textComputation({ module, run: renderRead })
const outlinePart = textComputation({ module, run: renderOutlinePart })
const baseline = textComputation({ module, run: renderBaseline })
const blocks = textComputation({ module, run: renderBlocks })

function documentOf(text: string) {
  return new StoredBody({ version: '', text }).document
}

function storedJson({ text, heading, resolution, format }: ContentView): string {
  return withDocument({ before: { ...heading, format }, text, behind: { warnings: [], ...resolution } })
}

// Writes the stored text into an answer without parsing it. The text is JSON already, one top-level block on each line.
function withDocument({ before, text, behind }: { before: object; text: string; behind: object }): string {
  const document = `"document":{"type":"doc","content":[${text.replaceAll('\n', ',')}]}`
  return `${JSON.stringify(before).slice(0, -1)},${document},${JSON.stringify(behind).slice(1)}`
}

function resumePosition(scope: CursorScope, input: { cursor: string; version: string }): number {
  const [cursorVersion, position] = decodeCursor(scope, input.cursor, ['string', 'number'])
  if (cursorVersion === input.version) return Number(position)
  const details = { cursor_version: String(cursorVersion), current_version: input.version }
  throw new Refusal('read_cursor_stale', { details })
}
