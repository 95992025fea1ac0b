import { createHash } from 'node:crypto'
import { Refusal } from '../errors/errors.ts'
import { cursorMembers, cursorText } from '../schema/cursor-text.ts'
import { isStorable } from '../schema/strings.ts'
import type { Search } from './statement/request.ts'

/**
 * A position in an exhaustive search. The next page begins behind the block `ord` of the document. `fingerprint` stands
 * for the state of all documents in scope when the page was read.
 */
export type SearchCursor = { documentId: string; ord: number; fingerprint: string }

type BoundCursor = SearchCursor & { search: string }

/** Writes a cursor as an opaque text that is bound to the query, the filters and the visible workspaces. */
export function encodeSearchCursor(search: Search, cursor: SearchCursor): string {
  const { documentId, ord, fingerprint } = cursor
  return cursorText([digest(search), fingerprint, documentId, ord])
}

/** Reads a cursor; refuses a malformed text with 409 `search_cursor_invalid`. */
export function decodeSearchCursor(text: string): BoundCursor {
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

/** Whether a cursor belongs to a search: the same query, filters and visible workspaces. */
export function sameSearch(cursor: BoundCursor, search: Search): boolean {
  return cursor.search === digest(search)
}

function digest({ q, scope, blockTypes, syntax = 'plain' }: Search): string {
  const bound: unknown[] = [q, [...scope.workspaceIds].sort(), scope.knowledgeBaseId ?? null, scope.locale]
  if (scope.filters || blockTypes) {
    bound.push(Object.entries(scope.filters ?? {}).sort(), [...new Set(blockTypes)].sort())
  }
  if (syntax !== 'plain') bound.push(syntax)
  return createHash('sha256').update(JSON.stringify(bound)).digest('base64url').slice(0, 16)
}
