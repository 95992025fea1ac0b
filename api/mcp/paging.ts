import { Type } from 'typebox'

/** The length of a page in the answer of a tool that lists short entries. */
export const pageLength = 25

/** The argument of a tool that continues a list. */
export const cursor = Type.Optional(Type.String({ description: 'next_cursor of the same call' }))

/** The member of an answer with which the list is continued; null at its end. */
export const NextCursor = Type.Union([Type.String(), Type.Null()])

// The length of the first page that is asked for, and the most times that it is halved: an entry always has room.
const firstLength = 100
const mostHalvings = 6

/**
 * Asks for a page of a list, and for a page of half the length while the answer has no room for the page. A cursor
 * stands behind a whole page, so an answer with a part of the page would leave out the rest for ever.
 */
export async function pageThatFits<Answer>(
  ask: (limit: number) => Promise<{ answer: Answer; isWhole: boolean }>,
): Promise<Answer> {
  let asked = await ask(firstLength)
  for (let halvings = 1; !asked.isWhole && halvings <= mostHalvings; halvings += 1) {
    asked = await ask(Math.floor(firstLength / 2 ** halvings))
  }
  return asked.answer
}

/** What the summary of an answer says about the rest of a list. */
export function furtherOnes(page: { next_cursor: string | null } | null): string {
  return page?.next_cursor == null ? '' : `, further ones with cursor "${page.next_cursor}"`
}
