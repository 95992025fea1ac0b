import type { MetadataFilter } from '../../documents/metadata-filter.ts'
import type { Syntax } from '../matching/grammar.ts'
import type { Step } from '../matching/term.ts'

/** The documents that are searched: the visible documents after the filters (api/guide/search.md#scope). */
export type SearchScope = {
  workspaceIds: readonly string[]
  knowledgeBaseId?: number | undefined
  /** `default`: ordinary documents and source-language versions; `all`; or one canonical locale. */
  locale: 'default' | 'all' | { exact: string }
  /** Null or absent unless the request narrows the search to some documents. */
  filters?: DocumentFilters | null
}

/**
 * The filters of a search on documents, of which at least one is present. The index of words knows nothing of them, so
 * PostgreSQL checks the documents.
 */
export type DocumentFilters = {
  /** A folder with everything below it. */
  folderId?: number | undefined
  documentId?: string | undefined
  updatedBy?: string | undefined
  /** Unix milliseconds, inclusive. */
  updatedAfter?: number | undefined
  /** Unix milliseconds, exclusive. */
  updatedBefore?: number | undefined
  /** Tags and properties. */
  metadata?: MetadataFilter | undefined
}

/** The types by which a search can choose blocks; `table` and `listItem` are all blocks inside (`Textblock`). */
export const blockTypes = ['title', 'heading', 'paragraph', 'codeBlock', 'table', 'listItem'] as const

/** A search as the API receives it, with a valid `q` and a canonical locale. */
export type Search = {
  q: string
  scope: SearchScope
  limit: number
  /** How `q` is read; absent for `plain`. */
  syntax?: Syntax | undefined
  /** Whether the last word also matches as the beginning of a word. */
  typing?: boolean | undefined
  /** The types of blocks that may match; absent for all types. */
  blockTypes?: readonly (typeof blockTypes)[number][] | undefined
  /** The order of a ranked search: by score (default), or first by the time of the document's last change. */
  sort?: 'relevance' | 'updated_at' | undefined
  /** The most hits of one document in a ranked search; absent for no such limit. */
  perDocument?: number | undefined
}

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
  /** Where the candidates are read from. */
  read: CandidateSource
  /** The limit of hits of one document; null for no such limit. */
  perDocument: PerDocument | null
}

/**
 * The source of the candidates of a ranked search. `words`: the lists of the words. `documents`: the blocks of the
 * documents of a short list (`DocumentList`). `newest`: the blocks of the documents that match and were changed last.
 * Their hits come in the order of these changes.
 */
export type CandidateSource = 'words' | 'documents' | { newest: NewestSource }

/**
 * Where the newest documents that match are looked for. `words`: among all documents that the lists of the words name.
 * `listed`: among the documents of a short list (`DocumentList`). `window`: among the newest documents in scope.
 */
export type NewestSource = 'words' | 'listed' | 'window'

/** A limit of the hits of one document, and the condition by which all its matches are counted. */
export type PerDocument = { fetched: number; matches: Condition }

/** The order of an exhaustive search: all matches in the order of documents, beginning behind the block `after`. */
export type ByDocument = {
  by: 'document'
  after: { documentId: string; ord: number } | null
  /** `documents`: the blocks of the documents of a short list (`DocumentList`), and not the lists of the words. */
  read: 'words' | 'documents'
}

/**
 * A condition on blocks in two steps: what the index is asked for, and what PostgreSQL then checks in the rows found.
 */
export type Condition = {
  /** The tsquery of the blocks to find, scope included; null matches nothing. */
  condition: string | null
  recheck: Recheck
}

/** What PostgreSQL checks in the rows that the index has found. */
export type Recheck = {
  /** The tsquery that rows must match, too; null where the index says everything. */
  tsquery: string | null
  /** The tsquery of the titles of the documents that may have hits (`titleTable`); null for all documents. */
  title: string | null
  titles: readonly TitleRecheck[]
  /** Which rows can be hits: any row, or titles and the blocks that match a tsquery. */
  rows: 'any' | { matching: string }
}

/**
 * A condition on the document of a row: the tsquery `title` finds its title, or the row itself matches `text`. With
 * `excluded`, neither may be.
 */
export type TitleRecheck = { title: string; text: string | null; excluded: boolean; workspaceIds: readonly string[] }

/**
 * The list of documents with which a statement begins. `scope`: the documents in scope, which filters have made few.
 * `titles`: the documents whose titles a search asks for, if few. Null where there are many documents.
 */
export type DocumentList = 'scope' | 'titles' | null

/** A search that is ready for the index. */
export type SearchRequest = Condition & {
  scope: SearchScope
  /** The list of the documents that can have hits, if there are few. */
  listed: DocumentList
  /**
   * The least number of fetched hits with which this answer can be the last of a search, unless texts that are too long
   * leave out hits. With fewer hits, a narrowed search does not count its documents.
   */
  countedFrom: number
  /** The number of documents in scope, where an earlier statement of the same snapshot has counted them; else null. */
  documentCount: number | null
  order: ByScore | ByDocument
  limit: number
}
