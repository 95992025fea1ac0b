import type { BlockLines } from '../../../shared/body/block-lines.ts'
import { positionOf, type ReadView, readWindow } from '../../../shared/body/read.ts'
import { Refusal } from '../../../shared/errors/errors.ts'
import { type CursorScope, decodeCursor, encodeCursor } from '../../http/pagination.ts'

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
