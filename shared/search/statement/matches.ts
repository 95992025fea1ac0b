import { sql } from '../../database/database.ts'
import { type Fragment, hidden, isFresh } from './conditions.ts'
import type { ByScore, Condition, SearchScope } from './request.ts'
import { isIncluded } from './scope.ts'

/**
 * The condition that a block `b`, which the index has found, matches a tsquery, too; true for null. The operator @@ is
 * written as a call of its function. PostgreSQL would answer the operator from the index.
 */
export function rechecked(tsquery: string | null): Fragment {
  return sql.fragment`coalesce(ts_match_vq(b.tsv, ${tsquery}::tsquery), true)`
}

/**
 * The condition that a block `b` has enough terms. A match that needs all terms, or at most two of them, needs no
 * count: the condition for the index already asks for these terms.
 */
export function hasEnoughTerms({ terms, minimumShouldMatch }: ByScore): Fragment {
  if (minimumShouldMatch === terms.length || minimumShouldMatch <= 2) return sql.fragment`true`
  const matches = terms.map(({ tsquery }) => sql.fragment`(b.tsv @@ ${tsquery}::tsquery)::int`)
  return sql.fragment`${sql.join(matches, sql.fragment` + `)} >= ${minimumShouldMatch}`
}

/**
 * Selects the blocks of a document `d` that match a ranked search. PostgreSQL reads all blocks of the document, and not
 * the lists of the words.
 */
export function matchesInDocument(order: ByScore, { condition, recheck }: Condition): Fragment {
  return sql.fragment`
    SELECT b.* FROM search_blocks b
    WHERE b.workspace_id = d.workspace_id AND b.document_id = d.id
      AND ts_match_vq(b.tsv, ${hidden(condition, 'tsquery')}) AND ${rechecked(recheck)} AND ${hasEnoughTerms(order)}
    OFFSET 0`
}

/** The condition that the document of a block `b` is in scope and has a current index. */
export function isInFreshDocument(scope: SearchScope): Fragment {
  return sql.fragment`
    EXISTS (
      SELECT FROM documents d
      JOIN search_documents s ON s.workspace_id = d.workspace_id AND s.document_id = d.id
      WHERE d.workspace_id = b.workspace_id AND d.id = b.document_id AND ${isIncluded(scope)} AND ${isFresh} OFFSET 0)`
}

/** The condition that the document of a block `b` is in scope. */
export function isInScope(scope: SearchScope): Fragment {
  return sql.fragment`
    EXISTS (
      SELECT FROM documents d
      WHERE d.workspace_id = b.workspace_id AND d.id = b.document_id AND ${isIncluded(scope)} OFFSET 0)`
}

/** The condition that the document of a block `b` is in the table `scoped` (`scopeTables`). */
export const isInList = sql.fragment`b.document_id IN (SELECT l.id FROM scoped l)`
