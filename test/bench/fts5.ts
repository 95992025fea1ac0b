import { DatabaseSync } from 'node:sqlite'
import { parseQuery } from '../../shared/search/matching/grammar.ts'
import { termQueries } from '../../shared/search/matching/query.ts'
import { unmarked } from '../../shared/search/text/lexemes.ts'
import { isStopWord, tokenise } from '../../shared/search/text/tokenise.ts'
import type { Site } from '../support/site.ts'

/** SQLite's full-text index of the same blocks and lexemes. */
export type Fts5 = Awaited<ReturnType<typeof fts5>>

/** Reads all indexed blocks from PostgreSQL and indexes them in memory. Each word is one token: its stem. */
export async function fts5(site: Site) {
  const rows = await site.ask(`
    SELECT b.document_id, b.ord, b.body, s.language,
      CASE b.type WHEN 'title' THEN 2 WHEN 'heading' THEN 1.3 ELSE 1 END::float8 AS weight
    FROM search_blocks b JOIN search_documents s USING (workspace_id, document_id)`)
  const sqlite = new DatabaseSync(':memory:')
  sqlite.exec('CREATE VIRTUAL TABLE blocks USING fts5(words, weight UNINDEXED)')
  const insert = sqlite.prepare('INSERT INTO blocks (rowid, words, weight) VALUES (?, ?, ?)')
  const tokens = new Map<string, string>()
  const matching = new Map<string, number>()
  const tokenOf = (word: string) => {
    const token = tokens.get(word) ?? `t${tokens.size}`
    tokens.set(word, token)
    return token
  }
  const keys: string[] = []
  sqlite.exec('BEGIN')
  for (const { document_id, ord, body, language, weight } of rows) {
    // Repeated words make a block longer for FTS5, but not for our index.
    const once = tokenise(body, [language]).filter(({ kind, repeated }) => kind !== 'whole' && !repeated)
    const words = once.map(({ lexeme, stems }) => unmarked(stems[0] ?? lexeme))
    for (const word of new Set(words)) matching.set(word, (matching.get(word) ?? 0) + 1)
    insert.run(keys.length, words.map(tokenOf).join(' '), weight)
    keys.push(`${document_id} ${ord}`)
  }
  sqlite.exec('COMMIT')
  const languages: string[] = [...new Set(rows.map(({ language }) => language))].sort()
  const fast = sqlite.prepare('SELECT rowid FROM blocks WHERE blocks MATCH ? ORDER BY rank LIMIT 10')
  const scored = sqlite.prepare(`
    SELECT rowid, -bm25(blocks) * weight AS score FROM blocks WHERE blocks MATCH ? ORDER BY 2 DESC, rowid LIMIT 200`)
  const formsOf = (q: string) =>
    termQueries(parseQuery(q), languages).flatMap(({ alternatives }) => [
      ...new Set(alternatives.flat().flatMap(({ lexemes }) => lexemes.map(unmarked))),
    ])
  const matchOf = (q: string) => formsOf(q).map(tokenOf).join(' AND ')
  return {
    blocks: keys.length,
    /** Words and the number of blocks with each, without stop words and words whose token depends on the language. */
    words: [...matching].filter(([word]) => {
      return /^[a-z]{4,12}$/.test(word) && !isStopWord(word, languages) && formsOf(word).length === 1
    }),
    search: (q: string) => fast.all(matchOf(q)).length,
    /** The best 200 blocks, as document and block number, with their scores. */
    scores: (q: string) =>
      new Map(scored.all(matchOf(q)).map(({ rowid, score }) => [keys[Number(rowid)] ?? '', Number(score)])),
    close: () => sqlite.close(),
  }
}
