import { sql } from '../../database/database.ts'
import { amongWorkspaces, type Fragment, hidden, isFresh } from './conditions.ts'
import type { ByScore, Condition, DocumentList, Recheck, SearchScope, TitleRecheck } from './request.ts'
import { isIncluded } from './scope.ts'

/**
 * The condition that a block `b`, which the index has found, also passes what the index cannot say. The operator @@ is
 * written as a call of its function. PostgreSQL would answer the operator from the index.
 */
export function rechecked({ tsquery, title, titles, rows }: Recheck): Fragment {
  const checks = [sql.fragment`coalesce(ts_match_vq(b.tsv, ${tsquery}::tsquery), true)`, ...titles.map(titleCheck)]
  if (title !== null) checks.push(isOneOf(sql.fragment`SELECT t.workspace_id, t.id FROM titled t`))
  if (rows !== 'any') checks.push(sql.fragment`(b.type = 'title' OR ts_match_vq(b.tsv, ${rows.matching}::tsquery))`)
  return sql.fragment`${sql.join(checks, sql.fragment` AND `)}`
}

/**
 * The table `titled` at the beginning of a statement: the keys of the documents whose titles a search asks for. Nothing
 * if it asks for no titles.
 */
export function titleTable({ title }: Recheck, scope: Pick<SearchScope, 'workspaceIds'>): Fragment {
  if (title === null) return sql.fragment``
  return sql.fragment`titled AS MATERIALIZED (${documentsWithTitle(title, scope)}),`
}

// A tsquery of titles names the type of the block. So the index gives the titles alone, and not all blocks with a word.
function documentsWithTitle(title: string, scope: Pick<SearchScope, 'workspaceIds'>): Fragment {
  return sql.fragment`
    SELECT t.workspace_id, t.document_id AS id FROM search_blocks t
    WHERE t.tsv @@ ${hidden(title, 'tsquery')} AND ${amongWorkspaces(sql.fragment`t.workspace_id`, scope)}`
}

// The documents are found once and kept in a hash table. Without the comparison with true, the planner would join the
// documents, and does not know how few they are.
function isOneOf(documents: Fragment): Fragment {
  return sql.fragment`((b.workspace_id, b.document_id) IN (${documents})) IS TRUE`
}

function titleCheck({ title, text, excluded, workspaceIds }: TitleRecheck): Fragment {
  const stands = sql.fragment`
    (${isOneOf(documentsWithTitle(title, { workspaceIds }))}
      OR ${text === null ? sql.fragment`false` : sql.fragment`ts_match_vq(b.tsv, ${text}::tsquery)`})`
  return excluded ? sql.fragment`NOT ${stands}` : stands
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

/** The table of the documents that can have hits, where they are few (`scopeTables`, `titleTable`). */
export function listOf(listed: DocumentList): Fragment {
  return listed === 'titles' ? sql.fragment`titled` : sql.fragment`scoped`
}

/**
 * The condition that the document of a block `b` is in the table `scoped` (`scopeTables`). The comparison with true
 * makes PostgreSQL look documents up in a hash table. Without the comparison, the planner may join the list, and then
 * reads the lists of the words once for each document.
 */
export const isInList = sql.fragment`(b.document_id IN (SELECT l.id FROM scoped l)) IS TRUE`
