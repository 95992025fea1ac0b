import Type from 'typebox'
import { prepared, type Queryable, sql } from '../database/database.ts'
import { row } from '../database/row.ts'

/**
 * Searches with the words of a query stemmed in every language of the workspaces. `search` returns what it found together
 * with the languages that its snapshot saw; where these are others than it was given, a document in a new language has been
 * indexed meanwhile, and it is called once more. So the languages need not be read before each search.
 */
export async function inAllLanguages<T>(
  db: Queryable,
  workspaceIds: readonly string[],
  search: (languages: readonly string[]) => Promise<{ found: T; languages: readonly string[] }>,
): Promise<T> {
  const key = workspaceIds.join()
  const known = knownLanguages(db)
  let languages = known.get(key) ?? (await languagesOf(db, workspaceIds))
  for (;;) {
    const seen = await search(languages)
    if (known.size >= manyScopes) known.clear()
    known.set(key, seen.languages)
    if (seen.languages.join() === languages.join()) return seen.found
    languages = seen.languages
  }
}

const cache = new WeakMap<Queryable, Map<string, readonly string[]>>()
const manyScopes = 10_000

function knownLanguages(db: Queryable): Map<string, readonly string[]> {
  const known = cache.get(db) ?? new Map<string, readonly string[]>()
  cache.set(db, known)
  return known
}

const LanguageRow = row(Type.Object({ language: Type.String() }))

function languagesOf(db: Queryable, workspaceIds: readonly string[]): Promise<readonly string[]> {
  return db.anyFirst(
    prepared(sql.type(LanguageRow)`
    SELECT DISTINCT language FROM search_languages
    WHERE workspace_id = ANY(${sql.array([...workspaceIds], 'text')}) ORDER BY language`),
  )
}
