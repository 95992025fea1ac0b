import Type, { type Static } from 'typebox'
import { IntegerId, Time, UserId } from '../schema/identifiers.ts'
import { TrimmedText } from '../schema/strings.ts'

/** Name of a knowledge base or folder; not unique. Store `value.trim()`. */
export const Name = TrimmedText({ min: 1, max: 200 })

/** A knowledge base (decisions 2.1). */
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

/** The same in the query, for clients and proxies that drop the body of a DELETE. */
export const ConfirmQuery = Type.Object({ confirm_id: Type.Optional(Type.String({ description: confirmId })) })
