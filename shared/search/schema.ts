import Type, { type Static } from 'typebox'
import { PathEntry } from '../documents/schema.ts'
import { IntegerId, Nullable, Time, Version } from '../schema/identifiers.ts'
import { isStorable } from '../schema/strings.ts'

// 200 characters in NFKC come from at most 2,000 UTF-16 units of the text as it was sent. Longer texts are refused
// before they are normalised, since ordering combining marks takes time that grows with the square of their number.
const mostUnits = 2000

/** The query in the form in which it is searched for and returned: NFKC, trimmed. */
export function queryText(q: string): string {
  return q.trim().normalize('NFKC').trim()
}

/**
 * The parameter `q`: 1 to 200 code points in the form that `queryText` returns. So the length does not depend on how a
 * client composes letters.
 */
export const QueryText = Type.Refine(
  Type.Unsafe<string>({
    type: 'string',
    description: 'words and "quoted phrases", all of which must match; 1 to 200 characters after trimming, in NFKC',
  }),
  (q) => {
    if (q.trim().length > mostUnits) return false
    const { length } = Array.from(queryText(q))
    return isStorable(q) && length >= 1 && length <= 200
  },
  () => 'must be 1 to 200 characters after trimming, in NFKC, without U+0000 or lone surrogates',
)

const MoreInDocument = Type.Integer({
  minimum: 0,
  description: 'further matches in the document; present with `group_by=document`',
})

/** A hit of search v1. */
export const SearchResult = Type.Object(
  {
    document_id: Type.String(),
    title: Type.String(),
    knowledge_base_id: IntegerId,
    folder_id: Nullable(IntegerId),
    document_type: Type.String(),
    block_id: Nullable(Type.String()),
    matched_in: Type.Enum(['title', 'content']),
    snippet: Nullable(Type.String()),
    updated_at: Nullable(Time),
    locale: Nullable(Type.String()),
    document_set_id: Nullable(Type.String()),
    document_set_uri: Nullable(Type.String()),
    more_in_document: Type.Optional(MoreInDocument),
  },
  { $id: 'SearchResult' },
)
export type SearchResult = Static<typeof SearchResult>

const ScoreExplanation = Type.Object({
  model: Type.Literal('bm25-1'),
  field: Type.Enum(['title', 'heading', 'body']),
  field_weight: Type.Number(),
  relaxed: Type.Boolean(),
  exact: Type.Boolean({
    description: 'false when ranking looked at a bounded set of candidates, or matched a very long block in parts',
  }),
  terms: Type.Array(Type.Object({ term: Type.String(), occurrences: Type.Integer(), weight: Type.Number() })),
})

/** A hit of search v2. The route can add the summary of the document. */
export const SearchV2Hit = Type.Object({
  document_id: Type.String(),
  document_uri: Type.String(),
  title: Type.String(),
  knowledge_base_id: IntegerId,
  folder_id: Nullable(IntegerId),
  document_type: Type.String(),
  locale: Nullable(Type.String()),
  document_set_id: Nullable(Type.String()),
  document_set_uri: Nullable(Type.String()),
  path: Type.Array(PathEntry),
  path_text: Type.String(),
  block_id: Nullable(Type.String()),
  block_type: Nullable(Type.String()),
  position: Nullable(Type.Integer({ minimum: 0, description: 'index of the top-level block' })),
  matched_in: Type.Enum(['title', 'content']),
  heading_path: Type.Array(Type.String()),
  context: Type.Object({ before: Nullable(Type.String()), match: Type.String(), after: Nullable(Type.String()) }),
  match_count: Type.Integer({ minimum: 1 }),
  score: Type.Number(),
  score_explanation: ScoreExplanation,
  source_version: Version,
  indexed_version: Version,
  freshness: Type.Literal('current'),
  indexed_at: Time,
  updated_at: Time,
  more_in_document: Type.Optional(MoreInDocument),
})
export type SearchV2Hit = Static<typeof SearchV2Hit>

/** How much of the documents in scope the index covers: the proof that "not found" means "does not exist". */
export const SearchProjection = Type.Object(
  {
    watermark: Type.String({ description: 'everything up to it is indexed; opaque' }),
    document_count: Type.Integer({ minimum: 0 }),
    current_document_count: Type.Integer({ minimum: 0 }),
    stale_document_count: Type.Integer({ minimum: 0 }),
    stale_document_ids: Type.Array(Type.String(), { maxItems: 100 }),
    freshness: Type.Enum(['current', 'stale']),
    complete: Type.Boolean({ description: 'false when a document in scope has a stale or missing index' }),
  },
  { $id: 'SearchProjection' },
)
export type SearchProjection = Static<typeof SearchProjection>
