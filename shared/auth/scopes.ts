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

/** A scope in words for the person who is asked to grant it. */
export const scopeDescriptions: Record<Scope, string> = {
  'documents:read': 'Read documents, search them and follow changes',
  'documents:write': 'Create, change and delete documents',
  'knowledge-bases:read': 'See knowledge bases and folders',
  'knowledge-bases:write': 'Create, change and delete knowledge bases and folders',
  'attachments:read': 'Download attachments',
  'attachments:write': 'Upload and delete attachments',
  'concepts:read': 'Read concepts',
  'concepts:write': 'Create, change and merge concepts',
  'summaries:generate': 'Have summaries written by a model, which can cost money',
}

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
