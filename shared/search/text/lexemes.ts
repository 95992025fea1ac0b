// The most bytes that PostgreSQL allows for a lexeme.
const maxLexemeBytes = 2046
const specialPattern = /['\\]/
const stemMark = '~'

/** Whether PostgreSQL accepts a lexeme. A longer lexeme is neither indexed nor searched for. */
export function isIndexable(lexeme: string): boolean {
  return lexeme.length * 3 <= maxLexemeBytes || Buffer.byteLength(lexeme) <= maxLexemeBytes
}

/** Quotes a lexeme for `::tsvector` and `::tsquery`, whatever the lexeme contains. */
export function quoteLexeme(lexeme: string): string {
  return specialPattern.test(lexeme) ? `'${lexeme.replaceAll('\\', '\\\\').replaceAll("'", "''")}'` : `'${lexeme}'`
}

/** The lexeme of a stem in the index: the stem behind a `~`, which begins no surface form. */
export function markStem(stem: string): string {
  return `${stemMark}${stem}`
}

/** A marked stem without its mark; any other lexeme unchanged. */
export function unmarked(lexeme: string): string {
  return lexeme.startsWith(stemMark) ? lexeme.slice(stemMark.length) : lexeme
}

/**
 * The lexeme that a block carries when a word's impact in the block reaches a tier, from 1 (widest) to 4. No surface
 * form contains the `^`. A marked stem and the surface form of the same letters share their tier lexeme, because their
 * occurrences add up: `boxes` and `box` together make the impact of `box`.
 */
export function tierLexeme(tier: number, lexeme: string): string {
  return `${tier}^${unmarked(lexeme)}`
}

/** The members of a document that decide which searches can find the document. */
export type ScopedDocument = { workspaceId: string; knowledge_base_id: number; locale: string | null }

/**
 * The scope lexemes of a document. Scope lexemes have no positions and begin with `@`, which begins no token of a text.
 * A tsquery that contains them is narrowed by the index itself to a workspace, knowledge base or locale.
 */
export function scopeLexemes(document: ScopedDocument): string[] {
  return [
    workspaceLexeme(document.workspaceId),
    knowledgeBaseLexeme(document.knowledge_base_id),
    ...(document.locale === null ? [] : [localeLexeme(document.locale)]),
  ]
}

/** The scopes of a search. A block in scope carries each single lexeme, and at least one lexeme of each list. */
export type ScopeLexemes = readonly (string | readonly string[])[]

/** The scope lexeme of every block of a workspace. */
export const workspaceLexeme = (workspaceId: string) => `@w${workspaceId}`

/** The scope lexeme of every block of a knowledge base. */
export const knowledgeBaseLexeme = (knowledgeBaseId: number) => `@k${knowledgeBaseId}`

/** The scope lexeme of every block of documents in a locale. */
export const localeLexeme = (locale: string) => `@l${locale}`

/** The scope lexeme of every block of a type, or of every block inside a node of a type. */
export const blockTypeLexeme = (type: string) => `@b${type}`
