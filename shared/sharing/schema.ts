import Type, { type Static } from 'typebox'
import { Nullable, Time, UserId } from '../schema/identifiers.ts'
import { documentIdPattern, ulidPattern } from '../schema/ids.ts'
import { Text } from '../schema/strings.ts'

/** The pattern of the id of a share. Everybody who knows the id of an open share can read its document. */
export const shareIdPattern = `^shr_${ulidPattern}$`

/** The public link of a document: api/guide/documents.md#sharing. */
export const PublicShare = Type.Object(
  {
    document_id: Type.String({ pattern: documentIdPattern }),
    share_id: Type.String({ pattern: shareIdPattern }),
    url: Type.String({ description: 'where people with the link read the document' }),
    access: Type.Enum(['read']),
    comments_enabled: Type.Literal(false),
    expires_at: Type.Union([Type.Integer(), Type.Null()], {
      description: 'Unix milliseconds from which the address answers 404; null = never',
    }),
    has_password: Type.Boolean({ description: 'whether readers are asked for a password first' }),
    view_count: Type.Integer({
      minimum: 0,
      description: 'how often the document was shown, counted shortly after; a password page is no view',
    }),
    last_viewed_at: Nullable(Time),
    created_at: Time,
    created_by: UserId,
  },
  { $id: 'PublicShare' },
)
export type PublicShare = Static<typeof PublicShare>

const expiry = Nullable(
  Type.Integer({ minimum: 0, maximum: 8.64e15, description: 'Unix milliseconds in the future; null = never' }),
)
// A password input of a browser cannot hold control characters, so nobody could enter a password that has some.
const password = Text({
  min: 8,
  max: 200,
  pattern: '^[^\\x00-\\x1f\\x7f]*$',
  description: 'without control characters',
})

/** Input of a new share; both members are ignored when the document has a share. */
export const PublicShareInput = Type.Object({ expires_at: Type.Optional(expiry), password: Type.Optional(password) })

/** Changes of a share; an absent member stays as it is. */
export const PublicShareChanges = Type.Object({
  expires_at: Type.Optional(expiry),
  password: Type.Optional(Nullable(password)),
})
