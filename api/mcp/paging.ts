import { Type } from 'typebox'

/** The length of a page in the answer of a tool that lists short entries. */
export const pageLength = 25

/** The argument of a tool that continues a list. */
export const cursor = Type.Optional(Type.String({ description: 'next_cursor of the same call' }))

/** The member of an answer with which the list is continued; null at its end. */
export const NextCursor = Type.Union([Type.String(), Type.Null()])

/** What the summary of an answer says about the rest of a list. */
export function furtherOnes(page: { next_cursor: string | null } | null): string {
  return page?.next_cursor == null ? '' : `, further ones with cursor "${page.next_cursor}"`
}
