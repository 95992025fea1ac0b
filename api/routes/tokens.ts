import { revokeGrantOfAccessToken } from '../../shared/auth/oauth/access-tokens.ts'
import { RevocationRequest } from '../../shared/auth/schema.ts'
import { revokeBearer } from '../../shared/auth/tokens.ts'
import { openRoute, type Route } from '../http/route.ts'

/** Tokens in the hands of a program that no longer needs them. */
export const tokenRoutes: readonly Route[] = [
  openRoute({
    method: 'POST',
    path: '/auth/revoke',
    operationId: 'revokeToken',
    tag: 'Auth and identity',
    summary: 'Revoke a token',
    description:
      'For a program that signs out. Whoever has a token may revoke it, and needs no other token for that. An access token of OAuth ends the whole approval, as at `/oauth/revoke`. The answer is the same for a value that is no token, or that is no longer valid.',
    extension: true,
    body: RevocationRequest,
    success: { status: 204, description: 'The token is no longer valid', data: null },
    errors: [],
    async handle({ tx, service, body }) {
      const { config } = service
      const isOfGrant = await revokeGrantOfAccessToken({ db: tx, config }, body.token)
      if (!isOfGrant) await revokeBearer({ tx, config }, body.token)
      return {}
    },
  }),
]
