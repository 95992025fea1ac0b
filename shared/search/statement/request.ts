import type { Step } from '../matching/query.ts'

/** The documents that are searched: the visible documents after the filters (api/guide/search.md#scope). */
export type SearchScope = {
  workspaceIds: readonly string[]
  knowledgeBaseId?: number | undefined
  /** `default`: ordinary documents and source-language versions; `all`; or one canonical locale. */
  locale: 'default' | 'all' | { exact: string }
}

/**
 * A search as the API receives it, with a valid `q` and a canonical locale. With `typing`, the last word of `q` also
 * matches as the beginning of a word.
 */
export type Search = { q: string; scope: SearchScope; limit: number; typing?: boolean | undefined }

/** A term of a query, with what the statement needs to find and to rank its blocks. */
export type RankedTerm = {
  /** The tsquery of the blocks that contain the term. */
  tsquery: string
  /** A quoted phrase as it is written; null for words, and for phrases without other forms. */
  verbatim: string | null
  /** The whole words of a term that also matches the beginnings of words; null for every other term. */
  wholeWords: string | null
  alternatives: readonly (readonly Step[])[]
  /** The estimated number of blocks with the term; null where PostgreSQL has to count them. */
  matching: number | null
}

/** The order of a ranked search: the best of a bounded number of candidates. */
export type ByScore = {
  by: 'score'
  terms: readonly RankedTerm[]
  /** How many of the terms a match must contain. */
  minimumShouldMatch: number
  /**
   * A condition whose matches become candidates even when the search has too many candidates; null for no such
   * condition.
   */
  always: Condition | null
  /** The number of all blocks, for the rarity of terms. */
  blocks: number
  /** Tokens of a block on average. */
  averageLength: number
  /**
   * Whether only documents in scope become candidates. The restriction makes a pass slower, but no candidate is spent
   * on a document out of scope.
   */
  inScopeOnly: boolean
}

/** The order of an exhaustive search: all matches in the order of documents, beginning behind the block `after`. */
export type ByDocument = { by: 'document'; after: { documentId: string; ord: number } | null }

/**
 * A condition on blocks in two steps: what the index is asked for, and what PostgreSQL then checks in the rows found.
 */
export type Condition = {
  /** The tsquery of the blocks to find, scope included; null matches nothing. */
  condition: string | null
  /** The tsquery that rows must match, too; null where `condition` says everything. */
  recheck: string | null
}

/** A search that is ready for the index. */
export type SearchRequest = Condition & {
  scope: SearchScope
  order: ByScore | ByDocument
  limit: number
}
