import Type, { type Static } from 'typebox'
import { IntegerId, Nullable, Time } from '../../schema/identifiers.ts'

/** A document as tree and children show it (decisions 4.7). */
export const DocumentNode = Type.Object(
  {
    type: Type.Literal('document'),
    id: Type.String(),
    title: Type.String(),
    document_type: Type.Enum(['document', 'spreadsheet']),
    folder_id: Nullable(IntegerId),
    locale: Nullable(Type.String()),
    variant_role: Nullable(Type.Enum(['source', 'translation'])),
    document_set_id: Nullable(Type.String()),
    updated_at: Time,
  },
  { $id: 'DocumentNode' },
)
export type DocumentNode = Static<typeof DocumentNode>

const folderMembers = {
  type: Type.Literal('folder'),
  id: IntegerId,
  name: Type.String(),
  parent_id: Nullable(IntegerId),
}

/** A folder among the direct children of a folder. */
export const FolderNode = Type.Object(folderMembers, { $id: 'FolderNode' })
export type FolderNode = Static<typeof FolderNode>

/** Item of `GET /folders/{id}/children`. */
export const ChildNode = Type.Union([FolderNode, DocumentNode], { $id: 'ChildNode' })
export type ChildNode = Static<typeof ChildNode>

/** A folder of the tree, with everything below it; the shape of the answer is in shared/summaries/tree/schema.ts. */
export type TreeFolder = FolderNode & { children: TreeNode[] }
export type TreeNode = TreeFolder | DocumentNode
