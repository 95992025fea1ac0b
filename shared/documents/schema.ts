import Type, { type Static } from 'typebox'
import { Position } from '../knowledge-bases/order.ts'
import { resolvedLocaleMembers } from '../locales/locale.ts'
import { IntegerId, IntegerIdInput, Nullable, Time, UserId, Version } from '../schema/identifiers.ts'
import { documentIdPattern } from '../schema/ids.ts'
import { Text, TrimmedText } from '../schema/strings.ts'
import { documentMetadataMembers, metadataInputMembers, propertiesPatchMember, tagsPatchMember } from './metadata.ts'

const DocumentType = Type.Enum(['document', 'spreadsheet'], {
  description: 'immutable label; both have the same body schema and endpoints',
})

/** The metadata of a document as the API returns it. */
export const Document = Type.Object(
  {
    id: Type.String(),
    uri: Type.String({ description: 'svc://doc/{id}' }),
    title: Type.String(),
    document_type: DocumentType,
    workspace_id: Type.String(),
    knowledge_base_id: IntegerId,
    folder_id: Nullable(IntegerId),
    heading_numbered: Type.Boolean(),
    background_color: Nullable(Type.String()),
    collapsed_block_ids: Type.Array(Type.String()),
    ...documentMetadataMembers,
    version: Version,
    character_count: Type.Integer({ minimum: 0, description: 'Unicode code points of all text' }),
    created_at: Time,
    updated_at: Time,
    created_by: UserId,
    updated_by: UserId,
    document_set_id: Nullable(Type.String()),
    document_set_uri: Nullable(Type.String()),
    locale: Nullable(Type.String()),
    variant_role: Nullable(Type.Enum(['source', 'translation'])),
    workflow_status: Nullable(Type.Enum(['draft', 'in_review', 'published'])),
    translation_freshness: Type.Enum(['current', 'outdated', 'unknown']),
    translated_from_document_id: Nullable(Type.String()),
    translated_from_version: Nullable(Version),
  },
  { $id: 'Document', description: 'Metadata of a document; `version` is that of its body' },
)
export type Document = Static<typeof Document>

/**
 * The metadata of a document in the answer of a read that may name a locale, with the members about the locale that was
 * found.
 */
export const ResolvedDocument = Type.Object(
  { ...Document.properties, ...resolvedLocaleMembers },
  { $id: 'ResolvedDocument' },
)

/** The longest title of a translation, in code points. The title of any other document may have 500. */
export const maximumTranslationTitle = 200

/** The longest title of a document that is no translation, in code points. */
export const longestTitle = 500

const title = TrimmedText({ min: 1, max: longestTitle })
const collapsedBlockIds = Type.Array(Text({ max: 64 }), { maxItems: 1000, description: 'unknown ids are tolerated' })
const backgroundColor = Nullable(Text({ max: 64 }))

/** Body of `PATCH /documents/{id}`; absent members stay as they are. */
export const DocumentUpdateInput = Type.Object(
  {
    title: Type.Optional(title),
    knowledge_base_id: Type.Optional(IntegerIdInput),
    folder_id: Type.Optional(Nullable(IntegerIdInput)),
    heading_numbered: Type.Optional(Type.Boolean()),
    background_color: Type.Optional(backgroundColor),
    collapsed_block_ids: Type.Optional(collapsedBlockIds),
    ...metadataInputMembers,
    tags_patch: tagsPatchMember,
    properties_patch: propertiesPatchMember,
    position: Type.Optional(Position),
  },
  { $id: 'DocumentUpdateInput' },
)

/** The metadata members of the body of `POST /documents`; `shared/body` declares the member `content`. */
export const documentCreateMembers = {
  title,
  id: Type.Optional(Type.String({ pattern: documentIdPattern, description: 'never used before, anywhere' })),
  knowledge_base_id: Type.Optional(IntegerIdInput),
  folder_id: Type.Optional(Nullable(IntegerIdInput)),
  document_type: Type.Optional(DocumentType),
  heading_numbered: Type.Optional(Type.Boolean()),
  background_color: Type.Optional(backgroundColor),
  collapsed_block_ids: Type.Optional(collapsedBlockIds),
  ...metadataInputMembers,
}

/** One entry of the path from a knowledge base to a document. */
export const PathEntry = Type.Object(
  {
    id: Type.Union([IntegerId, Type.String()]),
    name: Type.String(),
    type: Type.Enum(['knowledge_base', 'folder', 'document']),
  },
  { $id: 'PathEntry' },
)
export type PathEntry = Static<typeof PathEntry>

const Named = Type.Object({ id: IntegerId, name: Type.String() })

/** The answer of `GET /documents/{id}/path`. */
export const DocumentPath = Type.Object(
  {
    document_id: Type.String(),
    knowledge_base: Named,
    folders: Type.Array(Named),
    path: Type.Array(PathEntry, { description: 'root first, document last' }),
    path_text: Type.String({ description: 'names joined by " / "' }),
  },
  { $id: 'DocumentPath' },
)
export type DocumentPath = Static<typeof DocumentPath>

/** The most documents that one call names. */
export const mostNamedDocuments = 100

/** The ids of the documents that one call names. */
export const DocumentIds = Type.Array(Text({ max: 200 }), {
  minItems: 1,
  maxItems: mostNamedDocuments,
  description: 'an id that occurs twice counts once',
})

/** Body of `POST /documents/move`; at least one of the two members of a location is required. */
export const DocumentsMoveInput = Type.Object(
  {
    ids: DocumentIds,
    knowledge_base_id: Type.Optional(IntegerIdInput),
    folder_id: Type.Optional(IntegerIdInput),
  },
  { $id: 'DocumentsMoveInput' },
)

/** Answer of `POST /documents/move`. */
export const DocumentsMoved = Type.Object(
  { ids: Type.Array(Type.String(), { description: 'each document once, in the order of the request' }) },
  { $id: 'DocumentsMoved' },
)

/** Body of `POST /documents/delete`. */
export const DocumentsDeleteInput = Type.Object({ ids: DocumentIds }, { $id: 'DocumentsDeleteInput' })
