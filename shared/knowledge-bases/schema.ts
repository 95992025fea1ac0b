import Type, { type Static } from 'typebox'
import { IntegerId, IntegerIdInput, Nullable, Time, UserId } from '../schema/identifiers.ts'
import { TrimmedText } from '../schema/strings.ts'
import { Position } from './order.ts'

/** The name of a knowledge base or folder, which need not be unique. Handlers store `value.trim()`. */
/** The most characters of the name of a knowledge base or folder. */
export const longestName = 200

const Name = TrimmedText({ min: 1, max: longestName })

/** A knowledge base as the API returns it. */
export const KnowledgeBase = Type.Object(
  {
    id: IntegerId,
    workspace_id: Type.String(),
    name: Type.String(),
    document_count: Type.Integer({ minimum: 0 }),
    folder_count: Type.Integer({ minimum: 0 }),
    created_at: Time,
    updated_at: Time,
    created_by: UserId,
  },
  { $id: 'KnowledgeBase' },
)
export type KnowledgeBase = Static<typeof KnowledgeBase>

/** Body of `POST /knowledge-bases` and `PATCH /knowledge-bases/{id}`. */
export const NameInput = Type.Object({ name: Name }, { $id: 'NameInput' })

const confirmId = 'the id of the knowledge base, to confirm that it may go with all its contents'

/** Body of `DELETE /knowledge-bases/{id}`. */
export const ConfirmInput = Type.Object(
  { confirm_id: Type.Optional(Type.Union([Type.String(), Type.Integer()], { description: confirmId })) },
  { $id: 'ConfirmInput' },
)

/** The query of `DELETE /knowledge-bases/{id}`, for clients and proxies that drop the body of a DELETE. */
export const ConfirmQuery = Type.Object({ confirm_id: Type.Optional(Type.String({ description: confirmId })) })

/** A folder as the API returns it. */
export const Folder = Type.Object(
  {
    id: IntegerId,
    knowledge_base_id: IntegerId,
    parent_id: Nullable(IntegerId),
    name: Type.String(),
    created_at: Time,
    updated_at: Time,
    created_by: UserId,
  },
  { $id: 'Folder', description: '`parent_id` null is the root of the knowledge base' },
)
export type Folder = Static<typeof Folder>

/** The members of a body that say where a folder goes. */
const location = {
  knowledge_base_id: Type.Optional(IntegerIdInput),
  parent_id: Type.Optional(Nullable(IntegerIdInput)),
}

/** Body of `POST /folders`. */
export const FolderCreateInput = Type.Object(
  { name: Name, ...location },
  { $id: 'FolderCreateInput', description: '`knowledge_base_id` is required unless `parent_id` names a folder' },
)

/** Body of `PATCH /folders/{id}`. */
export const FolderUpdateInput = Type.Object(
  { name: Type.Optional(Name), ...location, position: Type.Optional(Position) },
  {
    $id: 'FolderUpdateInput',
    description: '`parent_id` null, or `knowledge_base_id` alone, moves to the root of the knowledge base',
  },
)

/** A document in a tree or among the children of a folder. */
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

/** An item of `GET /folders/{id}/children`. */
export const ChildNode = Type.Union([FolderNode, DocumentNode], { $id: 'ChildNode' })
export type ChildNode = Static<typeof ChildNode>

/** A folder of a tree with everything below it; `shared/summaries/tree.ts` has the shape of the answer. */
export type TreeFolder = FolderNode & { children: TreeNode[] }

/** A folder or document of a tree. */
export type TreeNode = TreeFolder | DocumentNode
