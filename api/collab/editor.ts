import { createHash } from 'node:crypto'
import type { Connection } from '@hocuspocus/server'
import type { Caller } from '../../shared/auth/caller.ts'
import type { EditorKey } from '../../shared/documents/editor-standings.ts'

/** A user who has opened a document. Text that the process accepts is stored in the name of this user. */
export type Editor = EditorKey & {
  /** Whether the token or the role let the user only read when the user opened the document. */
  readOnly: boolean
  /** The user as other editors see the user. */
  author: Author
}

/** What Hocuspocus keeps with each connection. */
export type EditorContext = { editor: Editor }

/** A connection of an editor to one document. One socket may have several. */
export type EditorConnection = Connection<EditorContext>

/** A user as other editors see the user beside a cursor; `color` has the form `#rrggbb`. */
export type Author = { id: string; name: string; color: string }

// Dark enough for white letters: every contrast is above 4.5.
const colors = [
  ...['#b3261e', '#a8480b', '#8a5a00', '#5c6b00', '#2f7314', '#00734f'],
  ...['#00707d', '#0b67a3', '#3c5bc4', '#6a4bc0', '#9339a8', '#ad2a72'],
]

/** The name of a user, and a colour that is the same in every document and process. */
export function authorOf({ userId, name }: Pick<Caller, 'userId' | 'name'>): Author {
  const [byte = 0] = createHash('sha256').update(userId).digest()
  return { id: userId, name, color: colors[byte % colors.length] ?? '#000000' }
}
