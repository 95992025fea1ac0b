import * as client from 'openid-client'
import type { Config } from '../config/config.ts'
import { OpenIdError, type OpenIdFlow, type OpenIdProvider, openIdCallbackPath } from './openid.ts'

/** The provider at the address OIDC_ISSUER. The first sign-in asks the provider for the addresses of its endpoints. */
export function createOpenIdProvider(config: Config): OpenIdProvider {
  const redirectUri = config.PUBLIC_ORIGIN + openIdCallbackPath
  const discovered = discovery(config)
  return {
    async begin({ state, nonce, verifier }) {
      const provider = await discovered()
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
      const provider = await discovered()
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
    try {
      const options = { execute, timeout: 30 }
      found ??= await client.discovery(server, config.OIDC_CLIENT_ID, undefined, authentication, options)
      return found
    } catch (error) {
      const reason = reasonOf(error) === 'unreachable' ? 'unreachable' : 'misconfigured'
      throw new OpenIdError(reason, { cause: error, facts: { issuer: config.OIDC_ISSUER, ...answered(error) } })
    }
  }
}

// What the provider has answered in place of metadata that fit: another issuer, or a status.
function answered(error: unknown): Record<string, unknown> {
  const cause = error instanceof Error ? error.cause : undefined
  if (cause instanceof Response) return { status: cause.status }
  const issuer = (cause as { body?: { issuer?: unknown } } | undefined)?.body?.issuer
  return issuer === undefined ? {} : { provider_issuer: String(issuer).slice(0, 1000) }
}

// How the service sends the client secret to the provider: by HTTP Basic, unless the metadata of the provider lists
// only other methods. Without a secret nothing is sent.
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
    throw new OpenIdError(reasonOf(error), { cause: error })
  }
}

// Errors of OAuth that the settings of this service or of the provider cause.
const wrongSettings = /^(invalid_client|unauthorized_client|invalid_request|invalid_scope|unsupported_.*)$/

function reasonOf(error: unknown): OpenIdError['reason'] {
  if (error instanceof client.AuthorizationResponseError || error instanceof client.ResponseBodyError) {
    if (error.error === 'access_denied') return 'cancelled'
    if (wrongSettings.test(error.error)) return 'misconfigured'
  }
  // `fetch` rejects with a TypeError, and so does an issuer in the metadata that is no URL.
  const isFetch = error instanceof TypeError && !('code' in error && error.code === 'ERR_INVALID_URL')
  const isDown = isFetch || (error instanceof Error && error.name === 'TimeoutError')
  const status = error instanceof client.ClientError && error.cause instanceof Response ? error.cause.status : 0
  return isDown || status >= 500 ? 'unreachable' : 'invalid'
}
