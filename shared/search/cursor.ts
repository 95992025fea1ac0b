import { createHash } from 'node:crypto'
import { Refusal } from '../errors/errors.ts'
import { cursorMembers, cursorText } from '../schema/cursor-text.ts'
import { isStorable } from '../schema/strings.ts'
import type { Search } from './statement/request.ts'

/** Where an exhaustive search goes on, and the state of its scope when it stopped there. */
export type Cursor = { documentId: string; ord: number; fingerprint: string }

type Bound = Cursor & { search: string }

/** An opaque cursor, bound to query and filters. */
export function encodeSearchCursor(search: Search, cursor: Cursor): string {
  const { documentId, ord, fingerprint } = cursor
  return cursorText([digest(search), fingerprint, documentId, ord])
}

/** Reads a cursor back; malformed is 409 `search_cursor_invalid` (decisions 2.8). */
export function decodeSearchCursor(text: string): Bound {
  const [search, fingerprint, documentId, ord] = cursorMembers(text) ?? []
  const wellFormed =
    typeof search === 'string' &&
    typeof fingerprint === 'string' &&
    typeof documentId === 'string' &&
    isStorable(documentId) &&
    Number.isSafeInteger(ord)
  if (!wellFormed) throw new Refusal('search_cursor_invalid')
  return { search, fingerprint, documentId, ord: ord as number }
}

/** Whether a cursor was made by the same query under the same filters and visible workspaces. */
export function sameSearch(cursor: Bound, search: Search): boolean {
  return cursor.search === digest(search)
}

function digest({ q, scope }: Search): string {
  const bound = [q, [...scope.workspaceIds].sort(), scope.knowledgeBaseId ?? null, scope.locale]
  return createHash('sha256').update(JSON.stringify(bound)).digest('base64url').slice(0, 16)
}
