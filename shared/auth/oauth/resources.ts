/** A part of the service that a token can be for: the API with live editing, or the tools for agents. */
export type ProtectedResource = keyof typeof paths

const paths = { api: '/api/v1', mcp: '/mcp' } as const

/** The address that names a part of the service as a resource (RFC 8707). `origin` is PUBLIC_ORIGIN. */
export function resourceAddress(origin: string, resource: ProtectedResource): string {
  return origin + paths[resource]
}

/**
 * The address as which a requested resource is recorded: PUBLIC_ORIGIN for the whole service, or the address of one
 * part. One slash at the end is ignored, because URL libraries add it to an origin. Null for everything else.
 */
export function recordedResource(origin: string, requested: string): string | null {
  const address = requested.replace(/\/$/, '')
  return knownResources(origin).includes(address) ? address : null
}

/** The addresses as which resources are recorded. */
export function knownResources(origin: string): readonly string[] {
  return [origin, ...Object.values(paths).map((path) => origin + path)]
}

/**
 * Whether a token counts for a part of the service. `recorded` is the resource of the token, or null for a token that
 * counts everywhere.
 */
export function countsFor(recorded: string | null, called: { origin: string; resource: ProtectedResource }): boolean {
  return recorded === null || recorded === called.origin || recorded === resourceAddress(called.origin, called.resource)
}
