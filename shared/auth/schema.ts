import Type, { type Static } from 'typebox'
import { Text } from '../schema/strings.ts'
import { scopes } from './scopes.ts'

export const Role = Type.Enum(['owner', 'editor', 'viewer'], { description: 'role of a user in a workspace' })
export type Role = Static<typeof Role>

export const Me = Type.Object(
  {
    user: Type.Object({ id: Type.String(), email: Type.String(), name: Type.String() }),
    scopes: Type.Array(Type.Enum([...scopes])),
    token_id: Type.String(),
    workspaces: Type.Array(Type.Object({ id: Type.String(), name: Type.String(), role: Role })),
    expires_at: Type.Union([Type.Integer({ description: 'Unix milliseconds' }), Type.Null()]),
    client_name: Type.Union([
      Type.String({ description: 'the program to which the user gave the token by OAuth' }),
      Type.Null(),
    ]),
    collaboration_url: Type.String({
      description: 'WebSocket address at which editors open documents for live editing',
    }),
  },
  { $id: 'Me', description: 'Who calls, with what rights' },
)
export type Me = Static<typeof Me>

/** The request of a program that signs out. */
export const RevocationRequest = Type.Object({ token: Text() })
