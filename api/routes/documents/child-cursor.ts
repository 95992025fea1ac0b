import { positionOf } from '../../../shared/knowledge-bases/tree/nodes.ts'
import type { ChildPosition, NodeRow } from '../../../shared/knowledge-bases/tree.ts'
import { type CursorScope, decodeCursor, encodeCursor } from '../../http/pagination.ts'

/** The cursors of the children of one folder: which folder it is belongs to what they are bound to. */
export function childCursors(endpoint: string, folderId: number) {
  const scope: CursorScope = { endpoint, filters: { folder_id: folderId }, sort: 'name' }
  return {
    /** The cursor after a child. */
    after: (child: NodeRow): string => {
      const { rank, labelStart, folderNumber, documentId } = positionOf(child)
      return encodeCursor(scope, [rank, labelStart, folderNumber, documentId])
    },
    /** The position that a cursor stands for; null without one. */
    read: (cursor: string | undefined): ChildPosition | null => {
      if (cursor === undefined) return null
      const [rank, labelStart, folderNumber, documentId] = decodeCursor(scope, cursor, [
        'number',
        'string',
        'number',
        'string',
      ])
      return {
        rank: Number(rank),
        labelStart: String(labelStart),
        folderNumber: Number(folderNumber),
        documentId: String(documentId),
      }
    },
  }
}
