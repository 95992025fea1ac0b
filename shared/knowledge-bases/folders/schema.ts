import Type, { type Static } from 'typebox'
import { IntegerId, IntegerIdInput, Nullable, Time, UserId } from '../../schema/identifiers.ts'
import { Name } from '../schema.ts'

/** A folder (decisions 2.1). */
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

const place = {
  knowledge_base_id: Type.Optional(IntegerIdInput),
  parent_id: Type.Optional(Nullable(IntegerIdInput)),
}

/** Body of `POST /folders`. */
export const FolderCreateInput = Type.Object(
  { name: Name, ...place },
  { $id: 'FolderCreateInput', description: '`knowledge_base_id` is required unless `parent_id` names a folder' },
)

/** Body of `PATCH /folders/{id}`. */
export const FolderUpdateInput = Type.Object(
  { name: Type.Optional(Name), ...place },
  {
    $id: 'FolderUpdateInput',
    description: '`parent_id` null, or `knowledge_base_id` alone, moves to the root of the knowledge base',
  },
)
