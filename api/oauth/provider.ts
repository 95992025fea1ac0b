import { generateKeyPairSync, randomUUID } from 'node:crypto'
import {
  type Adapter,
  type Configuration,
  errors,
  interactionPolicy,
  type KoaContextWithOIDC,
  Provider,
} from 'oidc-provider'
import { keyedHash } from '../../shared/auth/keyed-hash.ts'
import { oauthPaths } from '../../shared/auth/oauth/paths.ts'
import { knownResources } from '../../shared/auth/oauth/resources.ts'
import { scopes } from '../../shared/auth/scopes.ts'
import { issueToken } from '../../shared/auth/tokens.ts'
import type { Config } from '../../shared/config/config.ts'
import { newId } from '../../shared/schema/ids.ts'
import { fetchClientDocument } from './client-documents.ts'
import { grantTypes, normaliseClient, signingAlgorithm } from './client-metadata.ts'

const refreshTokenSeconds = 30 * 86_400
const codeSeconds = 60
// How long a person has to sign in and to decide.
const decisionSeconds = 1800

/** The hooks by which the provider reaches the rest of the process. */
type Hooks = {
  /** The storage of a model of the library. */
  adapter: (model: string) => Adapter
  /** Answers a request for a page that failed. Nobody else answers it. */
  renderError: NonNullable<Configuration['renderError']>
}

/**
 * Configures oidc-provider as an authorization server of OAuth 2.1 for public clients: codes with PKCE, refresh tokens
 * that are used once, and nothing else. There are no ID tokens and no sessions of the library.
 */
export function createProvider(config: Config, hooks: Hooks): Provider {
  const provider = new Provider(config.PUBLIC_ORIGIN, { ...configurationOf(config), ...hooks })
  // The requests that the library gets name PUBLIC_ORIGIN as if a proxy had sent them (request-copy.ts).
  provider.proxy = true
  // An access token has the form of every other token of the service.
  Object.assign(provider.AccessToken.prototype, {
    generateTokenId(this: { format: string }) {
      this.format = 'opaque'
      return issueToken(config.TOKEN_PEPPER).bearer
    },
  })
  // A refresh token that is used again within its leeway has the same successor.
  Object.assign(provider.RefreshToken.prototype, {
    generateTokenId() {
      const { RotatedRefreshToken: previous } = Provider.ctx?.oidc.entities ?? {}
      const text = previous?.jti ?? randomUUID()
      return keyedHash(config.TOKEN_PEPPER, { purpose: 'oauth next refresh token', text }).toString('base64url')
    },
  })
  // The library would remember who has approved in a cookie. Only the session of our pages says who a person is.
  provider.on('authorization.success', (ctx) => void ctx.oidc.session?.destroy())
  return provider
}

function configurationOf(config: Config): Configuration {
  const { PUBLIC_ORIGIN: origin, SESSION_SECRET: secret } = config
  const secure = origin.startsWith('https://')
  const cookie = { httpOnly: true, sameSite: 'lax', signed: true, secure } as const
  const prefix = secure ? '__Secure-' : ''
  return {
    routes: {
      authorization: oauthPaths.authorize,
      token: oauthPaths.token,
      revocation: oauthPaths.revoke,
      registration: oauthPaths.register,
    },
    cookies: {
      names: {
        session: `${prefix}svc_oauth_session`,
        interaction: `${prefix}svc_oauth_request`,
        resume: `${prefix}svc_oauth_resume`,
      },
      short: cookie,
      long: cookie,
      // Every process derives the same key, so a person may come back to another process.
      keys: [keyedHash(secret, { purpose: 'oauth cookies', text: '' }).toString('base64url')],
    },
    scopes: [...scopes],
    responseTypes: ['code'],
    clientAuthMethods: ['none'],
    clientDefaults: {
      application_type: 'native',
      token_endpoint_auth_method: 'none',
      grant_types: [...grantTypes],
      id_token_signed_response_alg: signingAlgorithm,
    },
    extraClientMetadata: {
      // The library calls the validator for each named property. One property suffices to reach the metadata.
      properties: ['client_name'],
      validator: (_ctx, _key, _value, metadata) => normaliseClient(metadata),
    },
    pkce: { required: () => true },
    allowOmittingSingleRegisteredRedirectUri: false,
    clockTolerance: 0,
    ttl: {
      AccessToken: config.OAUTH_ACCESS_TOKEN_TTL_SECONDS,
      AuthorizationCode: codeSeconds,
      RefreshToken: refreshTokenSeconds,
      Interaction: decisionSeconds,
      Session: decisionSeconds,
      Grant: refreshTokenSeconds,
    },
    issueRefreshToken: (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: true,
    expiresWithSession: () => false,
    revokeGrantPolicy: () => true,
    // The user of a grant exists, because a user takes all grants along.
    findAccount: (_ctx, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
    interactions: { url: (_ctx, { uid }) => `${oauthPaths.consent}/${uid}`, policy: [askedEachTime()] },
    // No key signs anything, but the library does not start without one.
    jwks: { keys: [generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }) as never] },
    fetch: (address, options) =>
      fetchClientDocument(String(address), {
        headers: new Headers(options?.headers),
        signal: options?.signal ?? AbortSignal.timeout(2500),
        allowPrivate: config.OAUTH_ALLOW_PRIVATE,
      }),
    // The application has set the headers of CORS before the library is asked.
    clientBasedCORS: () => true,
    features: {
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      clientIdMetadataDocument: { enabled: true, ack: 'draft-02', cacheDuration: { min: 300, max: 86_400 } },
      registration: { enabled: true, issueRegistrationAccessToken: false, idFactory: () => newId('client') },
      revocation: { enabled: true, allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId },
      resourceIndicators: {
        enabled: true,
        defaultResource: (_ctx, _client, oneOf) => oneOf ?? origin,
        getResourceServerInfo(ctx, resource) {
          const asked = ctx.oidc.params?.['resource']
          if (Array.isArray(asked)) throw new errors.InvalidTarget('one resource can be requested at a time')
          if (!knownResources(origin).includes(resource)) {
            throw new errors.InvalidTarget(`resource must be one of ${knownResources(origin).join(', ')}`)
          }
          return { scope: scopes.join(' '), accessTokenFormat: 'opaque' }
        },
      },
    },
  }
}

// A person is asked for each request, whatever the person approved before. A program that knows no scope of the service
// is refused before anybody is asked.
function askedEachTime() {
  const { Check, Prompt } = interactionPolicy
  const undecided = new Check('undecided', 'a person has to decide', 'consent_required', (ctx) => {
    const asked = String(ctx.oidc.params?.['scope'] ?? '')
    if (!scopes.some((scope) => asked.split(' ').includes(scope))) {
      throw new errors.InvalidScope('no requested scope is known', asked)
    }
    return ctx.oidc.result?.consent === undefined
  })
  // The page shows the name that the program has at its request, whatever its metadata document says later.
  const details = (ctx: KoaContextWithOIDC) => ({ clientName: ctx.oidc.client?.clientName ?? null })
  return new Prompt({ name: 'consent' }, details, undecided)
}
