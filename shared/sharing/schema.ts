import Type, { type Static } from 'typebox'
import { Time } from '../schema/identifiers.ts'
import { documentIdPattern, ulidPattern } from '../schema/ids.ts'

/** The pattern of the id of a share. Everybody who knows an id can read its document. */
export const shareIdPattern = `^shr_${ulidPattern}$`

/** The public link of a document: api/guide/documents.md#sharing. */
export const PublicShare = Type.Object(
  {
    document_id: Type.String({ pattern: documentIdPattern }),
    share_id: Type.String({ pattern: shareIdPattern }),
    url: Type.String({ description: 'where anybody can read the document' }),
    access: Type.Enum(['read']),
    comments_enabled: Type.Literal(false),
    created_at: Time,
  },
  { $id: 'PublicShare' },
)
export type PublicShare = Static<typeof PublicShare>
