import type { Step } from '../matching/query.ts'

/** Which documents are searched: the visible ones after the filters (decisions 2.8). */
export type SearchScope = {
  workspaceIds: readonly string[]
  knowledgeBaseId?: number | undefined
  /** `default`: ordinary documents and source-language versions; `all`; or one canonical locale. */
  locale: 'default' | 'all' | { exact: string }
}

/** A search as the API gets it; `q` is validated, the locale canonical. */
export type Search = { q: string; scope: SearchScope; limit: number }

/** A term as the statement ranks it; `matching` is the estimated number of blocks with it, null to count them. */
export type RankedTerm = {
  tsquery: string
  /** tsquery of a quoted phrase as it is written; null where that is no other. */
  verbatim: string | null
  alternatives: readonly (readonly Step[])[]
  matching: number | null
}

/** How hits are ordered: the best of a bounded number of candidates, or all of them from a place on. */
export type SearchOrder =
  | {
      by: 'score'
      terms: readonly RankedTerm[]
      /** How many of the terms a match must contain. */
      required: number
      /** Matches that are among the candidates in any case. */
      first: Condition | null
      /** All blocks there are, for the rarity of terms. */
      blocks: number
      /** Tokens of a block on average. */
      averageLength: number
      /** Whether candidates are of documents in scope only, so that none is spent on others; slower. */
      within: boolean
    }
  | { by: 'document'; after: { documentId: string; ord: number } | null }

/** What is asked of the index of lexemes, and what is left to be looked for in the rows that it names. */
export type Condition = {
  /** tsquery of all that must match, scope included; null matches nothing. */
  condition: string | null
  /** tsquery of what the condition leaves open; null when it says it all. */
  remainder: string | null
}

/** A search, ready for the index. */
export type SearchRequest = Condition & {
  scope: SearchScope
  order: SearchOrder
  limit: number
}

/** How many matches ranking looks at; beyond them it is no longer exact. */
export const candidateLimit = 5000
