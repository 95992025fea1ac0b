import Type, { type Static } from 'typebox'
import { Document } from '../documents/schema.ts'
import { Folder, KnowledgeBase } from '../knowledge-bases/schema.ts'
import { IntegerId, IntegerIdInput, Nullable, Time, UserId } from '../schema/identifiers.ts'

/** An entry of the trash as the API returns it: one deletion of a document, folder or knowledge base. */
export const TrashEntry = Type.Object(
  {
    id: Type.String(),
    type: Type.Enum(['document', 'folder', 'knowledge_base']),
    resource_id: Type.Union([Type.String(), IntegerId], {
      description: 'id of what was deleted, under which it comes back',
    }),
    name: Type.String({ description: 'title of the document, name of the folder or knowledge base' }),
    path_text: Type.String({ description: 'names of the place before the deletion, joined by " / "' }),
    document_count: Type.Integer({ minimum: 0, description: 'documents that were deleted with it' }),
    deleted_at: Time,
    deleted_by: UserId,
    expires_at: Time,
  },
  { $id: 'TrashEntry', description: 'One deletion; from `expires_at` on it cannot be restored' },
)
export type TrashEntry = Static<typeof TrashEntry>

/** Body of `POST /trash/{id}/restore`. Without members, everything returns to its old place. */
export const RestoreInput = Type.Object(
  {
    folder_id: Type.Optional(Nullable(IntegerIdInput)),
    knowledge_base_id: Type.Optional(IntegerIdInput),
  },
  {
    $id: 'RestoreInput',
    description:
      'Another place for a document or folder: a folder, or a knowledge base, whose root it is unless `folder_id` names a folder',
  },
)

const notRestored = {
  not_restored: Type.Array(Type.Enum(['public_share', 'document_set', 'translation_units']), {
    description:
      'what does not come back: public links, the place in a document set that is gone, and the units and reviews of a translation whose other document is gone',
  }),
}

/** The restored resource for a caller that prefers `return=minimal`. Only a document has a version. */
export const RestoredIdentity = Type.Object(
  {
    id: Type.Union([Document.properties.id, Folder.properties.id]),
    version: Type.Optional(Document.properties.version),
    ...notRestored,
  },
  { $id: 'RestoredIdentity' },
)

/** The answer of `POST /trash/{id}/restore`: the restored resource. */
export const RestoredResource = Type.Union(
  [
    Type.Object({ ...Document.properties, ...notRestored }, { $id: 'RestoredDocument' }),
    Type.Object({ ...Folder.properties, ...notRestored }, { $id: 'RestoredFolder' }),
    Type.Object({ ...KnowledgeBase.properties, ...notRestored }, { $id: 'RestoredKnowledgeBase' }),
  ],
  { $id: 'RestoredResource' },
)
