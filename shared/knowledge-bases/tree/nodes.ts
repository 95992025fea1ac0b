import { type ChildPosition, labelStartLength, type NodeRow } from '../tree.ts'
import type { DocumentNode, FolderNode } from './schema.ts'

/** A row as the API returns it (decisions 4.7). */
export function presentNode(row: NodeRow): FolderNode | DocumentNode {
  const { document_type, updated_at } = row
  if (document_type === null || updated_at === null) {
    return { type: 'folder', id: row.folder_number, name: row.label, parent_id: row.parent_id }
  }
  return {
    type: 'document',
    id: row.document_id,
    title: row.label,
    document_type,
    folder_id: row.parent_id,
    locale: row.locale,
    variant_role: row.variant_role,
    document_set_id: row.document_set_id,
    updated_at,
  }
}

/** The position after a child, for the next page. */
export function positionOf(row: NodeRow): ChildPosition {
  const labelStart = [...row.label].slice(0, labelStartLength).join('')
  return { rank: row.rank, labelStart, folderNumber: row.folder_number, documentId: row.document_id }
}
