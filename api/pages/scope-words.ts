import { isReading, type Scope } from '../../shared/auth/scopes.ts'

/** What a scope lets a program do, in words for whoever is asked to allow it. */
export const scopeWords: Record<Scope, string> = {
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

/** The scopes of a token in two words. */
export function accessOf(scopes: readonly Scope[]): string {
  return scopes.every(isReading) ? 'Read only' : 'Read and write'
}
