import { createHash } from 'node:crypto'
import { Refusal } from '../../shared/errors/errors.ts'
import { cursorMembers, cursorText } from '../../shared/schema/cursor-text.ts'
import { isStorable } from '../../shared/schema/strings.ts'

/** The member `page` of a list (api/guide/requests.md#paging). */
export type ListPage = { cursor: string | null; next_cursor: string | null; has_more: boolean }

/**
 * The list that a cursor belongs to: its endpoint, its filters and its sort order. Any other list refuses the cursor.
 */
export type CursorScope = { endpoint: string; filters: Record<string, unknown>; sort: string }

/**
 * A position in a list: the values of the sort columns in the last item of a page. The next page begins after this
 * position.
 */
export type CursorPosition = readonly (string | number)[]

/** Writes an opaque cursor of a list. */
export function encodeCursor(scope: CursorScope, position: CursorPosition): string {
  return cursorText([scope.sort, fingerprint(scope), ...position])
}

/**
 * Reads a cursor. A malformed cursor and the cursor of another list are refused with 400 `invalid_cursor`. The cursor
 * of another sort order of the same list is refused with 400 `cursor_sort_mismatch`. `like` names the types that the
 * members of the position must have. The types are checked, because a client can make up a cursor.
 */
export function decodeCursor(
  scope: CursorScope,
  cursor: string,
  like: readonly ('string' | 'number')[],
): CursorPosition {
  const [sort, print, ...position] = cursorMembers(cursor) ?? []
  if (typeof sort !== 'string' || print !== fingerprint({ ...scope, sort })) throw new Refusal('invalid_cursor')
  if (sort !== scope.sort) {
    throw new Refusal('cursor_sort_mismatch', { details: { cursor_sort: sort, requested_sort: scope.sort } })
  }
  if (position.length !== like.length || !position.every((value, index) => isPosition(value, like[index]))) {
    throw new Refusal('invalid_cursor')
  }
  return position as (string | number)[]
}

/** Makes a page of `limit` rows. The rows are read with `limit + 1`; the extra row only shows that there are more. */
export function pageOf<T>(input: {
  rows: readonly T[]
  limit: number
  cursor: string | undefined
  next: (last: T) => string
}): { data: T[]; page: ListPage } {
  const data = input.rows.slice(0, input.limit)
  const last = data.at(-1)
  const hasMore = input.rows.length > input.limit && last !== undefined
  return {
    data,
    page: { cursor: input.cursor ?? null, next_cursor: hasMore ? input.next(last) : null, has_more: hasMore },
  }
}

/**
 * Takes the first items that fit on a page: at most `limit`, and at most `maxBytes` of JSON, but at least one item.
 * `items` is not read beyond the first item that does not fit.
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

// Whether a member of a cursor has the given type, and a value that a column can hold. A made-up cursor must not reach
// the database with another value. Positions are ids, counts and times in Unix milliseconds, so their numbers are never
// negative.
function isPosition(value: unknown, type: 'string' | 'number' | undefined): boolean {
  if (type === 'number') return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 8.64e15
  return typeof value === 'string' && isStorable(value)
}

function fingerprint(scope: CursorScope): string {
  const bound = JSON.stringify([scope.endpoint, Object.entries(scope.filters).sort(), scope.sort])
  return createHash('sha256').update(bound).digest('base64url').slice(0, 12)
}
