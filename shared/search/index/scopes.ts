/** The part of a document that says in which searches it can be found. */
export type Scoped = { workspaceId: string; knowledge_base_id: number; locale: string | null }

/**
 * Position-free lexemes by which the index itself narrows a search down to workspace, knowledge base and locale. They
 * start with `@`, which no token of a text does.
 */
export function scopeLexemes(document: Scoped): string[] {
  return [
    workspaceLexeme(document.workspaceId),
    knowledgeBaseLexeme(document.knowledge_base_id),
    ...(document.locale === null ? [] : [localeLexeme(document.locale)]),
  ]
}

export const workspaceLexeme = (workspaceId: string) => `@w${workspaceId}`

export const knowledgeBaseLexeme = (knowledgeBaseId: number) => `@k${knowledgeBaseId}`

export const localeLexeme = (locale: string) => `@l${locale}`
