import Type from 'typebox'
import { longestTitle } from '../documents/schema.ts'
import { IntegerIdInput, Nullable } from '../schema/identifiers.ts'
import { TrimmedText } from '../schema/strings.ts'

/** Body of `POST /documents/{id}/duplicate`. */
export const DuplicateInput = Type.Object(
  {
    title: Type.Optional(
      TrimmedText({ min: 1, max: longestTitle, description: 'by default the title of the original with ` (copy)`' }),
    ),
    knowledge_base_id: Type.Optional(IntegerIdInput),
    folder_id: Type.Optional(Nullable(IntegerIdInput)),
  },
  { $id: 'DuplicateInput', description: 'Without a location the duplicate stands beside its original' },
)
