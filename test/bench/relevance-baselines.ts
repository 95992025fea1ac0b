import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import type { CorpusDocument } from '../search/relevance/corpus.ts'
import type { LabelledQuery } from '../search/relevance/queries.ts'
import type { Site } from '../support/site.ts'

// The configurations of PostgreSQL for the languages of the corpus. Chinese and Japanese have none.
const configurations = ['english', 'german', 'french', 'spanish', 'russian', 'arabic', 'simple'] as const
const byLanguage: Readonly<Record<string, (typeof configurations)[number]>> = {
  ...{ de: 'german', fr: 'french', es: 'spanish', ru: 'russian', ar: 'arabic', ja: 'simple', zh: 'simple' },
}

/** Another full-text search over the corpus. Its methods return the names of the best twenty documents. */
export type Baseline = {
  /** Searches for all words as they were typed, as the engine does by itself. */
  asTyped: (query: LabelledQuery) => Promise<string[]>
  /**
   * Searches as a caller can who knows the engine: a word that is still being typed is a prefix, and where fewer than
   * twenty documents have all words, documents with some of the words follow.
   */
  helped: (query: LabelledQuery) => Promise<string[]>
  close: () => unknown
}

/** Full-text search by SQLite FTS5, one row a document, ranked by bm25 with the title counting twice. */
export function sqliteBaseline(documents: readonly CorpusDocument[]): Baseline {
  const database = new DatabaseSync(':memory:')
  database.exec(
    `CREATE VIRTUAL TABLE documents USING fts5(title, body, tokenize = 'porter unicode61 remove_diacritics 2')`,
  )
  const insert = database.prepare('INSERT INTO documents (rowid, title, body) VALUES (?, ?, ?)')
  for (const [index, { title, markdown }] of documents.entries()) insert.run(index, title, markdown)
  const ranked = database.prepare(
    'SELECT rowid FROM documents WHERE documents MATCH ? ORDER BY bm25(documents, 2, 1), rowid LIMIT 20',
  )
  const matches = (expression: string) =>
    expression === '' ? [] : ranked.all(expression).map(({ rowid }) => documents[Number(rowid)]?.name ?? '')
  const wordsOf = (query: LabelledQuery) => clausesOf(query).map(({ text }) => `"${text}"`)
  const helpedWordsOf = (query: LabelledQuery) =>
    clausesOf(query).map(({ text, prefix }) => `"${text}"${prefix ? '*' : ''}`)
  return {
    asTyped: async (query) => matches(wordsOf(query).join(' AND ')),
    helped: async (query) => {
      const words = helpedWordsOf(query)
      return firstTwenty(matches(words.join(' AND ')), matches(words.join(' OR ')))
    },
    close: () => database.close(),
  }
}

/**
 * Full-text search by PostgreSQL, one row a document, each in the configuration of its language, ranked by
 * `ts_rank_cd` with the title in weight A.
 */
export async function postgresBaseline(site: Site, documents: readonly CorpusDocument[]): Promise<Baseline> {
  const client = new pg.Client(site.url)
  await client.connect()
  await client.query('CREATE TEMPORARY TABLE baseline (name text, tsv tsvector)')
  for (const { name, title, markdown } of documents) {
    const configuration = byLanguage[name.slice(0, name.indexOf('/'))] ?? 'english'
    await client.query(
      `INSERT INTO baseline SELECT $1, setweight(to_tsvector('${configuration}', $2), 'A')
         || to_tsvector('${configuration}', $3)`,
      [name, title, markdown],
    )
  }
  const matches = async (query: LabelledQuery, { operator, helped }: { operator: '&&' | '||'; helped: boolean }) => {
    const clauses = clausesOf(query)
    const anyForm = (index: number, prefix: boolean) => {
      const forms = configurations.map((name) => `phraseto_tsquery('${name}', $${index + 1})`)
      const started = `(quote_literal(lower($${index + 1})) || ':*')::tsquery`
      return `(${[...forms, ...(prefix ? [started] : [])].join(' || ')})`
    }
    const tsquery = clauses.map(({ prefix }, index) => anyForm(index, helped && prefix)).join(` ${operator} `)
    const { rows } = await client.query(
      `SELECT name FROM baseline, (SELECT ${tsquery} AS q) AS query WHERE tsv @@ q
       ORDER BY ts_rank_cd(tsv, q) DESC, name LIMIT 20`,
      clauses.map(({ text }) => text),
    )
    return rows.map(({ name }) => String(name))
  }
  return {
    asTyped: (query) => matches(query, { operator: '&&', helped: false }),
    helped: async (query) =>
      firstTwenty(
        await matches(query, { operator: '&&', helped: true }),
        await matches(query, { operator: '||', helped: true }),
      ),
    close: () => client.end(),
  }
}

function firstTwenty(...lists: readonly string[][]): string[] {
  return [...new Set(lists.flat())].slice(0, 20)
}

/** The words and quoted phrases of a query, without quotes. */
function clausesOf({ q, kind }: LabelledQuery): { text: string; prefix: boolean }[] {
  const clauses = q.match(/"[^"]*"|\S+/g) ?? []
  return clauses.map((clause, index) => ({
    text: clause.replaceAll('"', ''),
    prefix: kind === 'prefix' && index === clauses.length - 1,
  }))
}
