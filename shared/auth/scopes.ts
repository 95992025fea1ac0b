/** The permissions that a token can carry: api/guide/authentication.md#scopes. */
export const scopes = [
  'documents:read',
  'documents:write',
  'knowledge-bases:read',
  'knowledge-bases:write',
  'attachments:read',
  'attachments:write',
  'concepts:read',
  'concepts:write',
  'summaries:generate',
] as const

export type Scope = (typeof scopes)[number]

/** Whether the scope only permits reading. */
export function isReading(scope: Scope): boolean {
  return scope.endsWith(':read')
}

const readOnly = scopes.filter(isReading)

/**
 * The scopes that `read_write`, `read_only` or an explicit list name. `unknown` are the items of the list that are no
 * scopes. For an empty list, `scopes` and `unknown` are empty.
 */
export function resolveScopes(input: string | readonly string[]): { scopes: Scope[]; unknown: string[] } {
  if (input === 'read_write') return { scopes: [...scopes], unknown: [] }
  if (input === 'read_only') return { scopes: readOnly, unknown: [] }
  const asked = typeof input === 'string' ? [input] : input
  return {
    scopes: scopes.filter((scope) => asked.includes(scope)),
    unknown: asked.filter((item) => !scopes.some((scope) => scope === item)),
  }
}
