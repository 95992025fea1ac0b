import { recordedResource } from '../../shared/auth/oauth/resources.ts'
import { scopes } from '../../shared/auth/scopes.ts'

/**
 * The query of an authorization request as the library gets it. `registered` has the scopes of the program's
 * registration, or is null when it named none. Without `scope` a program asks for these, or for everything. It gets no
 * scope beyond these (RFC 7591, section 2). Without `resource` it asks for the whole service. `prompt` asks for
 * nothing, because every person is asked each time; `prompt=none` stays, so that the program learns that nobody can be
 * passed by.
 */
export function authorizationQuery(
  query: URLSearchParams,
  { origin, registered }: { origin: string; registered: readonly string[] | null },
): URLSearchParams {
  const parameters = withResource(query, origin)
  const allowed = registered ?? scopes
  const asked = (parameters.get('scope') ?? '').split(' ').filter((scope) => scope !== '')
  const granted = asked.filter((scope) => allowed.includes(scope) || !scopes.some((own) => own === scope))
  if (asked.length === 0) parameters.set('scope', allowed.join(' '))
  else if (granted.length > 0) parameters.set('scope', granted.join(' '))
  if (!parameters.has('resource')) parameters.set('resource', origin)
  // For other modes that the library knows, it would answer with a page of its own, whose script the headers stop.
  if (parameters.has('response_mode') && parameters.get('response_mode') !== 'query') {
    parameters.set('response_mode', 'unsupported')
  }
  if (parameters.get('prompt') !== 'none') parameters.delete('prompt')
  return parameters
}

/** The parameters with each `resource` in the one spelling in which it is recorded. */
export function withResource(parameters: URLSearchParams, origin: string): URLSearchParams {
  const result = new URLSearchParams(parameters)
  const resources = new Set(parameters.getAll('resource').map((value) => recordedResource(origin, value) ?? value))
  result.delete('resource')
  for (const resource of resources) result.append('resource', resource)
  return result
}

/**
 * The body of a registration as the library gets it. Every client is public, so a client that asks for a secret gets
 * none. A text that is no JSON object stays as it is, and the library refuses it.
 */
export function registrationBody(text: string): string {
  const body = parsed(text)
  if (body === null || typeof body !== 'object' || Array.isArray(body)) return text
  return JSON.stringify({ ...body, token_endpoint_auth_method: 'none' })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
