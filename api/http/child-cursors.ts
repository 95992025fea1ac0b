import { type ChildPosition, type ChildRow, positionOf } from '../../shared/knowledge-bases/children.ts'
import type { SortOrder } from '../../shared/knowledge-bases/order.ts'
import { type CursorScope, decodeCursor, encodeCursor } from './pagination.ts'

/** Makes the cursors of the children of one parent in one order. Every other list refuses these cursors. */
export function childCursors(scope: CursorScope & { sort: SortOrder }) {
  const { sort } = scope
  const [names, types] = [membersOf[sort], membersOf[sort].map((name) => memberTypes[name])]
  return {
    /** Returns the cursor after a child. */
    after: (child: ChildRow): string => {
      const position = positionOf(child, sort)
      return encodeCursor(
        scope,
        names.map((name) => position[name]),
      )
    },
    /**
     * Returns the position that a cursor names, or null without a cursor. Refuses a cursor of another list with 400.
     */
    read: (cursor: string | undefined): ChildPosition | null => {
      if (cursor === undefined) return null
      const values = decodeCursor(scope, cursor, types)
      return { ...nowhere, ...Object.fromEntries(names.map((name, index) => [name, values[index]])) }
    },
  }
}

const nowhere: ChildPosition = {
  rank: 0,
  labelStart: '',
  folderNumber: 0,
  documentId: '',
  changedAt: 0,
  placed: 0,
  orderKey: '',
}

const memberTypes = {
  rank: 'number',
  labelStart: 'string',
  folderNumber: 'number',
  documentId: 'string',
  changedAt: 'number',
  placed: 'number',
  orderKey: 'string',
} as const satisfies Record<keyof ChildPosition, 'number' | 'string'>

// The members of a position that a cursor of each order keeps.
const membersOf: Record<SortOrder, (keyof ChildPosition)[]> = {
  name: ['rank', 'labelStart', 'folderNumber', 'documentId'],
  updated_at: ['rank', 'changedAt', 'folderNumber', 'documentId'],
  manual: ['rank', 'placed', 'orderKey', 'labelStart', 'folderNumber', 'documentId'],
}
