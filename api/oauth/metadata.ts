import { oauthPaths } from '../../shared/auth/oauth/paths.ts'
import { type ProtectedResource, resourceAddress } from '../../shared/auth/oauth/resources.ts'
import { scopes } from '../../shared/auth/scopes.ts'

/** The documents by which clients discover the authorization server and what it protects, by their paths. */
export function wellKnownDocuments(origin: string): Record<string, object> {
  return {
    '/.well-known/oauth-authorization-server': authorizationServer(origin),
    '/.well-known/oauth-protected-resource': protectedResource(origin, null),
    '/.well-known/oauth-protected-resource/api/v1': protectedResource(origin, 'api'),
    '/.well-known/oauth-protected-resource/mcp': protectedResource(origin, 'mcp'),
  }
}

// The metadata of RFC 8414.
function authorizationServer(origin: string): object {
  return {
    issuer: origin,
    authorization_endpoint: origin + oauthPaths.authorize,
    token_endpoint: origin + oauthPaths.token,
    revocation_endpoint: origin + oauthPaths.revoke,
    registration_endpoint: origin + oauthPaths.register,
    scopes_supported: scopes,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
    service_documentation: `${origin}/guide/authentication`,
  }
}

// The metadata of RFC 9728, for the whole service with `part` null, or for one part of it.
function protectedResource(origin: string, part: ProtectedResource | null): object {
  return {
    resource: part === null ? origin : resourceAddress(origin, part),
    authorization_servers: [origin],
    scopes_supported: scopes,
    bearer_methods_supported: ['header'],
    resource_documentation: `${origin}/guide/authentication`,
  }
}
