import { createHash } from 'node:crypto'
import { Refusal } from '../../shared/errors/errors.ts'
import { cursorMembers, cursorText } from '../../shared/schema/cursor-text.ts'
import { isStorable } from '../../shared/schema/strings.ts'

/** The `page` member of a list (specification 2.1). */
export type Page = { cursor: string | null; next_cursor: string | null; has_more: boolean }

/** What a cursor is bound to: the endpoint, its filters, its sort order. Changing any of them makes it foreign. */
export type CursorScope = { endpoint: string; filters: Record<string, unknown>; sort: string }

/** The position after the last item of a page, in the columns of the sort order. */
export type Position = readonly (string | number)[]

/** An opaque cursor (decisions 2.0, pagination). */
export function encodeCursor(scope: CursorScope, position: Position): string {
  return cursorText([scope.sort, fingerprint(scope), ...position])
}

/**
 * Reads a cursor back: malformed or foreign → 400 `invalid_cursor`, another sort order of the same list → 400
 * `cursor_sort_mismatch`. Its members are checked against the types of `like`, since a client can make them up.
 */
export function decodeCursor(scope: CursorScope, cursor: string, like: readonly ('string' | 'number')[]): Position {
  const [sort, print, ...position] = cursorMembers(cursor) ?? []
  if (print !== fingerprint({ ...scope, sort: String(sort) })) throw new Refusal('invalid_cursor')
  if (sort !== scope.sort) {
    throw new Refusal('cursor_sort_mismatch', { details: { cursor_sort: String(sort), requested_sort: scope.sort } })
  }
  if (position.length !== like.length || !position.every((value, index) => isPosition(value, like[index]))) {
    throw new Refusal('invalid_cursor')
  }
  return position as (string | number)[]
}

/**
 * Turns rows fetched with one more than `limit` into a page: the surplus row only says that there is more.
 */
export function pageOf<T>(input: {
  rows: readonly T[]
  limit: number
  cursor: string | undefined
  next: (last: T) => string
}): { data: T[]; page: Page } {
  const data = input.rows.slice(0, input.limit)
  const last = data.at(-1)
  const hasMore = input.rows.length > input.limit && last !== undefined
  return {
    data,
    page: { cursor: input.cursor ?? null, next_cursor: hasMore ? input.next(last) : null, has_more: hasMore },
  }
}

/**
 * The first of items that can be large, as far as they fit on a page: up to `limit`, and no more than `maxBytes` as
 * JSON, but one at least. Nothing is asked of `items` beyond the item that does not fit.
 */
export function takeWithin<T>(
  items: Iterable<T>,
  page: { limit: number; maxBytes: number },
): { taken: T[]; hasMore: boolean } {
  const taken: T[] = []
  let bytes = 0
  for (const item of items) {
    if (taken.length === page.limit) return { taken, hasMore: true }
    bytes += Buffer.byteLength(JSON.stringify(item)) + 1
    if (taken.length > 0 && bytes > page.maxBytes) return { taken, hasMore: true }
    taken.push(item)
  }
  return { taken, hasMore: false }
}

// A made-up cursor must not reach the database with a value that its column cannot hold. Positions are ids, counts and
// times in Unix milliseconds; no number of them is negative.
function isPosition(value: unknown, type: 'string' | 'number' | undefined): boolean {
  if (type === 'number') return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 8.64e15
  return typeof value === 'string' && isStorable(value)
}

function fingerprint(scope: CursorScope): string {
  const bound = JSON.stringify([scope.endpoint, Object.entries(scope.filters).sort(), scope.sort])
  return createHash('sha256').update(bound).digest('base64url').slice(0, 12)
}
