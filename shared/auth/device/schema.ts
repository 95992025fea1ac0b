import Type, { type Static } from 'typebox'
import { Nullable } from '../../schema/identifiers.ts'
import { Text, TrimmedText } from '../../schema/strings.ts'
import { scopes } from '../scopes.ts'

/** The request that begins a device authorization. */
export const DeviceCodeRequest = Type.Object({
  client_name: Type.Optional(
    Nullable(TrimmedText({ max: 80, description: 'shown to whoever confirms, and the name of the token' })),
  ),
  scopes: Type.Optional(
    Nullable(
      Type.Union([Text(), Type.Array(Text())], {
        description: '`read_write` (default), `read_only`, or the permissions that are wanted',
      }),
    ),
  ),
})

export const DeviceCode = Type.Object(
  {
    device_code: Type.String({ description: 'secret of the client, for polling' }),
    user_code: Type.String({ description: '`XXXX-XXXX`; case and dash do not matter when it is typed' }),
    verification_uri: Type.String({ format: 'uri' }),
    verification_uri_complete: Type.String({ format: 'uri', description: 'with the user code filled in' }),
    expires_in: Type.Integer({ description: 'seconds' }),
    interval: Type.Integer({ description: 'least seconds between two polls' }),
  },
  { $id: 'DeviceCode', description: 'A pending device authorization' },
)

export const DeviceTokenRequest = Type.Object({ device_code: Text() })

export const DeviceToken = Type.Object(
  {
    access_token: Type.String({ description: 'the bearer token; it is not shown again' }),
    token_type: Type.Literal('Bearer'),
    token_id: Type.String(),
    scope: Type.String({ description: 'the scopes, separated by spaces' }),
    scopes: Type.Array(Type.Enum([...scopes])),
    expires_in: Type.Integer({ description: 'seconds' }),
    expires_at: Type.Integer({ description: 'Unix milliseconds' }),
  },
  { $id: 'DeviceToken', description: 'The token that was confirmed' },
)
export type DeviceToken = Static<typeof DeviceToken>
