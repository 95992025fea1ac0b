import Type, { type Static } from 'typebox'
import { Time, UserId } from '../schema/identifiers.ts'
import { documentIdPattern, ulidPattern } from '../schema/ids.ts'

/** A file of a document as the API returns it. */
export const Attachment = Type.Object(
  {
    id: Type.String({ pattern: `^att_${ulidPattern}$` }),
    document_id: Type.String({ pattern: documentIdPattern }),
    filename: Type.String({ description: 'as it was sent, without folders and control characters' }),
    content_type: Type.String({ description: 'media type' }),
    size: Type.Integer({ minimum: 1, description: 'bytes' }),
    sha256: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'of the bytes' }),
    url: Type.String({ description: 'absolute path of the bytes' }),
    referenced: Type.Boolean({ description: 'whether a body of the workspace shows it' }),
    created_at: Time,
    created_by: UserId,
  },
  { $id: 'Attachment' },
)
export type Attachment = Static<typeof Attachment>
