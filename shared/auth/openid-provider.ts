import * as client from 'openid-client'
import type { Config } from '../config/config.ts'

/** A person as the provider knows them. */
export type OpenIdIdentity = { issuer: string; subject: string; email: string | null; emailVerified: boolean }

/** The secrets of one sign-in, which the answer of the provider must match. `verifier` is the code verifier of PKCE. */
export type OpenIdFlow = { state: string; nonce: string; verifier: string }

/** A sign-in at the provider that failed. `reason` is for the person, `cause` for the log. */
export class OpenIdError extends Error {
  override readonly name = 'OpenIdError'
  readonly reason: 'unreachable' | 'cancelled' | 'invalid'

  constructor(reason: 'unreachable' | 'cancelled' | 'invalid', cause: unknown) {
    super(`sign-in at the provider: ${reason}`, { cause })
    this.reason = reason
  }
}

export type OpenIdProvider = {
  /** The address at the provider where the sign-in begins. Rejects with `OpenIdError`. */
  begin: (flow: OpenIdFlow) => Promise<URL>
  /** The person who came back with that query string. Rejects with `OpenIdError`. */
  finish: (flow: OpenIdFlow, search: string) => Promise<OpenIdIdentity>
}

/** Path below PUBLIC_ORIGIN that the operator registers with the provider as the redirect URI. */
export const openIdCallbackPath = '/login/openid/callback'

/** The OpenID Connect provider of the settings `OIDC_*`, or null. The first sign-in asks it for its addresses. */
export function createOpenIdProvider(config: Config): OpenIdProvider | null {
  if (config.OIDC_ISSUER === '') return null
  const redirectUri = config.PUBLIC_ORIGIN + openIdCallbackPath
  const discovered = discovery(config)
  return {
    async begin({ state, nonce, verifier }) {
      const provider = await failing(discovered)
      return client.buildAuthorizationUrl(provider, {
        redirect_uri: redirectUri,
        scope: 'openid email profile',
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        state,
        nonce,
      })
    },
    async finish(flow, search) {
      const provider = await failing(discovered)
      return failing(() => identityOf(provider, { flow, url: new URL(redirectUri + search) }))
    },
  }
}

// Only a discovery that worked is remembered: a provider that is down now may be up for the next person.
function discovery(config: Config): () => Promise<client.Configuration> {
  let found: client.Configuration | undefined
  return async () => {
    const server = new URL(config.OIDC_ISSUER)
    const execute = server.protocol === 'http:' ? [client.allowInsecureRequests] : []
    const authentication = authenticationOf(config.OIDC_CLIENT_SECRET)
    found ??= await client.discovery(server, config.OIDC_CLIENT_ID, undefined, authentication, { execute, timeout: 30 })
    return found
  }
}

// Every provider supports HTTP Basic, unless its metadata says otherwise.
function authenticationOf(secret: string): client.ClientAuth {
  if (secret === '') return client.None()
  const [basic, post] = [client.ClientSecretBasic(secret), client.ClientSecretPost(secret)]
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    const authenticate = methods.includes('client_secret_basic') ? basic : post
    return authenticate(server, ...rest)
  }
}

async function identityOf(provider: client.Configuration, answer: { flow: OpenIdFlow; url: URL }) {
  const { flow, url } = answer
  const tokens = await client.authorizationCodeGrant(provider, url, {
    pkceCodeVerifier: flow.verifier,
    expectedState: flow.state,
    expectedNonce: flow.nonce,
    idTokenExpected: true,
  })
  const claims = tokens.claims()
  if (claims === undefined) throw new Error('no ID token')
  const isComplete = claims['email'] !== undefined || provider.serverMetadata().userinfo_endpoint === undefined
  const person = isComplete ? claims : await client.fetchUserInfo(provider, tokens.access_token, claims.sub)
  const { email, email_verified: verified } = person
  return {
    issuer: claims.iss,
    subject: claims.sub,
    email: typeof email === 'string' ? email : null,
    emailVerified: verified === true,
  }
}

async function failing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw new OpenIdError(reasonOf(error), error)
  }
}

function reasonOf(error: unknown): OpenIdError['reason'] {
  if (error instanceof client.AuthorizationResponseError && error.error === 'access_denied') return 'cancelled'
  const isDown = error instanceof TypeError || (error instanceof Error && error.name === 'TimeoutError')
  const status = error instanceof client.ClientError && error.cause instanceof Response ? error.cause.status : 0
  return isDown || status >= 500 ? 'unreachable' : 'invalid'
}
