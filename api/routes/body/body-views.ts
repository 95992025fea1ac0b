import { BlockLines } from '../../../shared/body/block-lines.ts'
import { listBlocks } from '../../../shared/body/blocks.ts'
import { type ContentFormat, contentMembers } from '../../../shared/body/content.ts'
import { answerWarnings } from '../../../shared/body/document.ts'
import { manifestOf } from '../../../shared/body/manifest.ts'
import { outlineOf } from '../../../shared/body/outline.ts'
import { positionOf, type ReadView, readWindow } from '../../../shared/body/read.ts'
import { StoredBody, textComputation } from '../../../shared/body/stored-body.ts'
import { compute } from '../../../shared/computations/compute.ts'
import { Refusal } from '../../../shared/errors/errors.ts'
import { type CursorScope, decodeCursor, encodeCursor, takeWithin } from '../../http/pagination.ts'
import { presentBlock } from './block-write.ts'

// Each view of a body is made where the view holds nobody up. It comes as JSON text, which is cheaper to hand over than
// objects. `heading` and `resolution` are the members before and behind those that follow from the body.

type Framed = { text: string; heading: object; resolution: object }
type ContentView = Framed & { format: ContentFormat; anchors: boolean }
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

/** The `data` of a part of a body as JSON text; refuses as `readPart` does. */
export function readText(view: ReadPartView): Promise<string> {
  return compute(read, view)
}

/** The `data` of a read whose view is the outline, as JSON text; refuses as `checkOutlineQuery` does. */
export function outlinePartText(view: OutlinePartView): Promise<string> {
  return compute(outlinePart, view)
}

/** One page of the blocks of a body as JSON text, how many blocks it has, and whether more follow it. */
export function blocksText(view: BlocksView): Promise<{ dataText: string; count: number; hasMore: boolean }> {
  return compute(blocks, view)
}

/** The `data` of a baseline of changes, to which the manifest of the body belongs, as JSON text. */
export function baselineText(view: BaselineView): Promise<string> {
  return compute(baseline, view)
}

/** The work of `contentText`, which a thread calls by its name. @public */
export function renderContent({ text, heading, resolution, format, anchors }: ContentView): string {
  const members = contentMembers(documentOf(text), { format, anchors })
  const warnings = answerWarnings(members.warnings)
  return JSON.stringify({ ...heading, format, ...members, warnings, ...resolution })
}

/** The work of `outlineText`, which a thread calls by its name. @public */
export function renderOutline({ text, heading, resolution }: Framed): string {
  return JSON.stringify({ ...heading, ...outlineOf(documentOf(text).content), ...resolution })
}

/** The work of `readText`, which a thread calls by its name. @public */
export function renderRead({ text, heading, resolution, request }: ReadPartView): string {
  const part = readPart(new BlockLines(text.split('\n')), request)
  return JSON.stringify({ ...heading, view: request.view, ...part, ...resolution })
}

/** The work of `outlinePartText`, which a thread calls by its name. @public */
export function renderOutlinePart({ text, heading, resolution, query }: OutlinePartView): string {
  checkOutlineQuery(new BlockLines(text.split('\n')), query)
  const { sections } = outlineOf(documentOf(text).content)
  return JSON.stringify({ ...heading, view: 'outline', sections, ...resolution })
}

/** The work of `baselineText`, which a thread calls by its name. @public */
export function renderBaseline({ text, baseline }: BaselineView): string {
  return JSON.stringify({ ...baseline, manifest: manifestOf(text.split('\n')) })
}

/** The work of `blocksText`, which a thread calls by its name. @public */
export function renderBlocks({ text, document, recursive, start, limit, maxBytes }: BlocksView) {
  const blocks = listBlocks(new BlockLines(text.split('\n')), { recursive, from: start })
  const presented = blocks.map((block) => presentBlock(block, document))
  const { taken, hasMore } = takeWithin(presented, { limit, maxBytes })
  return { dataText: JSON.stringify(taken), count: taken.length, hasMore }
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

/** The `data` of the answer to a write of a whole body, as JSON text; `behind` are the members behind the document. */
export function writtenText({ text, heading, behind }: { text: string; heading: object; behind: object }): string {
  return withDocument({ before: heading, text, behind })
}

function storedJson({ text, heading, resolution, format }: ContentView): string {
  return withDocument({ before: { ...heading, format }, text, behind: { warnings: [], ...resolution } })
}

// The stored text is JSON already, one top-level block a line.
function withDocument({ before, text, behind }: { before: object; text: string; behind: object }): string {
  const document = `"document":{"type":"doc","content":[${text.replaceAll('\n', ',')}]}`
  return `${JSON.stringify(before).slice(0, -1)},${document},${JSON.stringify(behind).slice(1)}`
}

/** What of a call a part of a body follows from; plain data. */
export type ReadRequest = {
  endpoint: string
  params: { id: string }
  query: {
    around?: string | undefined
    max_tokens?: number | undefined
    context_before?: number | undefined
    context_after?: number | undefined
    cursor?: string | undefined
    locale?: string | undefined
  }
  view: ReadView
  version: string
}

/**
 * One part of a body with the cursor of the next. A cursor of other parameters is 400 `invalid_cursor`, one of another
 * version of the body 409 `read_cursor_stale` (decisions 2.6).
 */
export function readPart(body: BlockLines, request: ReadRequest) {
  const { view, version, query } = request
  const { around, max_tokens = 4000, context_before = 2, context_after = 4, cursor, locale } = query
  const filters = {
    view,
    id: request.params.id,
    locale,
    around,
    max_tokens,
    ...(around && { context_before, context_after }),
  }
  const scope: CursorScope = { endpoint: request.endpoint, filters, sort: 'position' }
  const resume = cursor === undefined ? undefined : resumePosition(scope, { cursor, version })
  const { resume: next, ...part } = readWindow(body, {
    view,
    maxTokens: max_tokens,
    contextBefore: context_before,
    contextAfter: context_after,
    ...(around !== undefined && { around }),
    ...(resume !== undefined && { resume }),
  })
  return { ...part, max_tokens, next_cursor: next === null ? null : encodeCursor(scope, [version, next]) }
}

/**
 * Refuses what an outline is asked for in vain, as every view does: a block that is not there, 404, and any cursor,
 * 400, since an outline is whole and hands out none.
 */
export function checkOutlineQuery(body: BlockLines, query: ReadRequest['query']): void {
  if (query.cursor !== undefined) throw new Refusal('invalid_cursor')
  if (query.around !== undefined) positionOf(body, query.around)
}

function resumePosition(scope: CursorScope, input: { cursor: string; version: string }): number {
  const [cursorVersion, position] = decodeCursor(scope, input.cursor, ['string', 'number'])
  if (cursorVersion === input.version) return Number(position)
  const details = { cursor_version: String(cursorVersion), current_version: input.version }
  throw new Refusal('read_cursor_stale', { details })
}
