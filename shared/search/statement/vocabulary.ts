import Type from 'typebox'
import { type Queryable, sql } from '../../database/database.ts'
import { row } from '../../database/row.ts'
import { Nullable } from '../../schema/identifiers.ts'
import { amongWorkspaces } from './conditions.ts'
import { isInFreshDocument } from './matches.ts'
import type { SearchScope } from './request.ts'
import { scopeTables } from './scope.ts'

// The most blocks that are looked at for one that is in scope and whose index is current.
const mostBlocks = 1000
// The most words that one probe of the vocabulary returns.
const mostWords = 5000

/** How many blocks in scope match a tsquery, or `unknown` where blocks that were not looked at may match. */
export type BlockCount = number | 'unknown'

/**
 * For each tsquery the number of blocks in scope that match it and whose index is current, at most `most`. Only the
 * first 1,000 blocks of the workspaces are looked at, so the number is too low where few of many blocks are in scope.
 * If none of so many blocks is in scope, the count is unknown, unless the scope can be listed. `blocksInList` says how
 * many blocks a list of all documents in scope has, and is null where there are too many documents. All blocks of the
 * list are looked at where they are few, or where the first blocks say nothing.
 */
export async function countInScope(
  db: Queryable,
  asked: { tsqueries: readonly string[]; scope: SearchScope; blocksInList: number | null; most: number },
): Promise<readonly BlockCount[]> {
  const { tsqueries, scope, blocksInList, most } = asked
  const listed = blocksInList !== null
  const inDocuments = sql.fragment`(
    SELECT count(*) FROM (
      SELECT FROM scoped d JOIN search_blocks b ON b.workspace_id = d.workspace_id AND b.document_id = d.id
      WHERE ts_match_vq(b.tsv, asked.tsquery::tsquery) AND ${isInFreshDocument(scope)} LIMIT ${most}) AS found)`
  // A table of its own, so that PostgreSQL reads the index. For one row alone, it would look through all blocks.
  const inFirstBlocks = sql.fragment`(
    WITH first AS MATERIALIZED (
      SELECT b.workspace_id, b.document_id FROM search_blocks b
      WHERE b.tsv @@ asked.tsquery::tsquery AND ${amongWorkspaces(sql.fragment`b.workspace_id`, scope)}
      LIMIT ${mostBlocks})
    SELECT CASE
      WHEN count(*) > 0 OR (SELECT count(*) FROM first) < ${mostBlocks} THEN count(*)
      ELSE ${listed ? inDocuments : sql.fragment`NULL`} END
    FROM (SELECT FROM first b WHERE ${isInFreshDocument(scope)} LIMIT ${most}) AS found)`
  const counts = await db.anyFirst(sql.type(row(Type.Object({ matching: Nullable(Type.Number()) })))`
    WITH ${scopeTables(scope, { listed })} asked AS (
      SELECT * FROM ${sql.unnest(
        tsqueries.map((tsquery, n) => [tsquery, n]),
        ['text', 'int4'],
      )} AS asked (tsquery, n))
    SELECT ${listed && blocksInList <= mostBlocks ? inDocuments : inFirstBlocks} AS matching FROM asked
    ORDER BY asked.n`)
  return counts.map((count) => count ?? 'unknown')
}

/** What finds the words near a word: how they begin, how they end, single edits of it, and their length. */
export type VocabularyProbe = { beginning: string; end: string; edits: string[]; shortest: number; longest: number }

/**
 * For each probe the words of the vocabularies of the workspaces that it finds, at most some thousand. Words may be
 * among them that no document holds any more.
 */
export async function probeVocabulary(
  db: Queryable,
  asked: { probes: readonly VocabularyProbe[]; workspaceIds: readonly string[] },
): Promise<readonly (readonly string[])[]> {
  // The last code point ends the range of all words that begin with a text.
  const range = (of: typeof word, bound: typeof word) => sql.fragment`
    SELECT v.word FROM search_words v
    WHERE v.workspace_id = ANY(${sql.array([...asked.workspaceIds], 'text')})
      AND ${of} >= ${bound} AND ${of} < ${bound} || chr(1114111)
      AND char_length(v.word) BETWEEN asked.shortest AND asked.longest LIMIT ${mostWords}`
  return db.anyFirst(sql.type(row(Type.Object({ words: Type.Array(Type.String()) })))`
    SELECT ARRAY(
      (${range(word, sql.fragment`asked.beginning`)})
      UNION (${range(sql.fragment`reverse(v.word)`, sql.fragment`reverse(asked."end")`)})
      UNION (
        SELECT v.word FROM search_words v
        WHERE v.workspace_id = ANY(${sql.array([...asked.workspaceIds], 'text')}) AND v.word = ANY(asked.edits))
    ) AS words
    FROM jsonb_to_recordset(${JSON.stringify(asked.probes.map((probe, n) => ({ ...probe, n })))}::jsonb)
      AS asked (n int, beginning text, "end" text, edits text[], shortest int, longest int)
    ORDER BY asked.n`)
}

const word = sql.fragment`v.word`
